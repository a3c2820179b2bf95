"""Write the schemas: `python -m tools.schemas`."""

from tools.schemas import FOLDER, path_of, schemas, text_of

FOLDER.mkdir(exist_ok=True)
for name, schema in schemas().items():
    path_of(name).write_text(text_of(schema), encoding="utf-8")
    print(path_of(name).relative_to(FOLDER.parents[1]))
