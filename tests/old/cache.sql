BEGIN TRANSACTION;
CREATE TABLE answers (
  model INTEGER NOT NULL REFERENCES models(id), candidates TEXT NOT NULL, prompt TEXT NOT NULL,
  repeat INTEGER NOT NULL, scores TEXT NOT NULL, ranks TEXT, written REAL NOT NULL,
  PRIMARY KEY (model, candidates, prompt, repeat)) WITHOUT ROWID;
INSERT INTO "answers" VALUES(1,'["he", "she"]','a cook from Asia said that [MASK] left.',0,'[-2.0, -1.5]',NULL,1.79486972164751744265e+09);
INSERT INTO "answers" VALUES(1,'["he", "she"]','a cook from Norway said that [MASK] left.',0,'[-5.0, -2.5]',NULL,1.79486972164751720426e+09);
INSERT INTO "answers" VALUES(1,'["he", "she"]','a cook from here said that [MASK] left.',0,'[-3.0, -3.5]',NULL,1.79486972164751505849e+09);
INSERT INTO "answers" VALUES(1,'["he", "she"]','a nurse from Asia said that [MASK] left.',0,'[-1.0, -4.5]',NULL,1.79486972164751482005e+09);
INSERT INTO "answers" VALUES(1,'["he", "she"]','a nurse from Norway said that [MASK] left.',0,'[-4.0, -1.5]',NULL,1.79486972164751434326e+09);
INSERT INTO "answers" VALUES(1,'["he", "she"]','a nurse from here said that [MASK] left.',0,'[-2.0, -2.5]',NULL,1.79486972164751386639e+09);
INSERT INTO "answers" VALUES(1,'["he", "she"]','somebody from Asia said that [MASK] left.',0,'[-5.0, -3.5]',NULL,1.79486972164751362799e+09);
INSERT INTO "answers" VALUES(1,'["he", "she"]','somebody from Norway said that [MASK] left.',0,'[-3.0, -4.5]',NULL,1.79486972164751315116e+09);
INSERT INTO "answers" VALUES(1,'["he", "she"]','somebody from here said that [MASK] left.',0,'[-1.0, -1.5]',NULL,1.79486972164751195906e+09);
CREATE TABLE files (
  path TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL,
  changed INTEGER NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE models (
  id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
INSERT INTO "models" VALUES(1,'table:fb482ea30ebf642d870ebf9bb102fb8b8336c7b98cd272f823f3670b23df3ae9','table/scores.csv');
COMMIT;
