# hornlens with the built-in model: docker build -t hornlens . && docker run --rm -v "$PWD:/work" hornlens extract
FROM python:3.11-slim
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir --constraint constraints.txt '.[demo,figures]' \
    && useradd --create-home --uid 1000 hornlens
USER 1000
WORKDIR /work
ENTRYPOINT ["hornlens"]
CMD ["--help"]
