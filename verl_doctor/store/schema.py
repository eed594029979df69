"""The statements of each step of the schema. A step that has been released is never changed."""

from __future__ import annotations

from .types import WAKE_OCCURRENCES, WAKE_RUNS

APPLICATION_ID = 0x76444F43
"""`vDOC`, in the header of the file: tells a store from another program's database."""

FIRST = (
    f"PRAGMA application_id = {APPLICATION_ID}",
    """
    CREATE TABLE migrations (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      applied_at REAL NOT NULL
    )
    """,
    """
    CREATE TABLE runs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      folder TEXT NOT NULL,
      host TEXT NOT NULL,
      started_at REAL,
      ended_at REAL,
      verdict TEXT NOT NULL,
      phase TEXT NOT NULL,
      step INTEGER,
      overrides TEXT NOT NULL,      -- JSON list
      rules_version TEXT NOT NULL,
      recorded_at REAL NOT NULL,
      updated_at REAL NOT NULL
    )
    """,
    """
    CREATE TABLE logs (
      run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
      key TEXT NOT NULL,            -- digest of the absolute path, which itself is kept masked
      path TEXT NOT NULL,
      lines INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      head TEXT NOT NULL,           -- digest of the first head_bytes bytes; empty: not readable
      head_bytes INTEGER NOT NULL,
      PRIMARY KEY (run, key)
    )
    """,
    "CREATE INDEX logs_key ON logs(key)",
    """
    CREATE TABLE incidents (
      fingerprint TEXT PRIMARY KEY NOT NULL,
      number INTEGER NOT NULL UNIQUE,
      rule TEXT,
      slug TEXT NOT NULL,
      title TEXT NOT NULL,
      severity TEXT NOT NULL,
      state TEXT NOT NULL DEFAULT 'new'
        CHECK (state IN ('new', 'acknowledged', 'resolved', 'regressed')),
      fix TEXT NOT NULL DEFAULT '', -- what resolved it
      resolved_at REAL,
      first_seen_at REAL NOT NULL,
      last_seen_at REAL NOT NULL,
      runs INTEGER NOT NULL DEFAULT 0,
      occurrences INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX incidents_last_seen ON incidents(last_seen_at)",
    """
    CREATE TABLE occurrences (
      id INTEGER PRIMARY KEY,
      fingerprint TEXT NOT NULL REFERENCES incidents(fingerprint) ON DELETE CASCADE,
      run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
      role TEXT NOT NULL,
      severity TEXT NOT NULL,
      confidence TEXT NOT NULL,
      cause TEXT NOT NULL,
      phase TEXT NOT NULL,
      count INTEGER NOT NULL,
      workers TEXT NOT NULL,        -- JSON list
      first_line INTEGER NOT NULL,
      last_line INTEGER NOT NULL,
      first_seen_at REAL NOT NULL,
      last_seen_at REAL NOT NULL,
      UNIQUE (fingerprint, run)
    )
    """,
    "CREATE INDEX occurrences_run ON occurrences(run)",
    """
    CREATE TABLE evidence (
      occurrence INTEGER NOT NULL REFERENCES occurrences(id) ON DELETE CASCADE,
      position INTEGER NOT NULL,    -- 0: the decisive line
      path TEXT NOT NULL,
      line INTEGER NOT NULL,
      text TEXT NOT NULL,
      PRIMARY KEY (occurrence, position)
    )
    """,
)

INDEX_WORDS = """
INSERT INTO words (rowid, title, cause, evidence, notes, fix, tags)
SELECT i.number,
  spaced(coalesce(i.rule, '') || ' ' || i.slug || ' ' || i.title),
  spaced(coalesce(o.cause, '')),
  spaced(coalesce((SELECT group_concat(e.text, ' ') FROM evidence e
                   WHERE e.occurrence = o.id), '')),
  spaced(coalesce((SELECT group_concat(n.text, ' ') FROM notes n
                   WHERE n.fingerprint = i.fingerprint), '')),
  spaced(i.fix || ' ' || i.mute_reason),
  spaced(coalesce((SELECT group_concat(t.tag, ' ') FROM tags t
                   WHERE t.fingerprint = i.fingerprint), ''))
FROM incidents i LEFT JOIN occurrences o ON o.id =
  (SELECT id FROM occurrences p WHERE p.fingerprint = i.fingerprint
   ORDER BY p.last_seen_at DESC, p.run DESC LIMIT 1)
"""
"""What of an incident can be found by its words: of its runs, those of the newest.
`spaced` is db.spaced. To change this is a step of its own, which fills `words` anew."""

SECOND = (
    # A mute ends at `muted_until`, or by itself when the incident grows beyond what it was then.
    "ALTER TABLE incidents ADD COLUMN muted_at REAL",
    "ALTER TABLE incidents ADD COLUMN muted_until REAL",
    "ALTER TABLE incidents ADD COLUMN mute_reason TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE incidents ADD COLUMN muted_runs INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE incidents ADD COLUMN muted_occurrences INTEGER NOT NULL DEFAULT 0",
    # When a person changed it last: of two stores that are merged, the later change stands.
    "ALTER TABLE incidents ADD COLUMN changed_at REAL",
    """
    CREATE TABLE resolutions (
      fingerprint TEXT NOT NULL REFERENCES incidents(fingerprint) ON DELETE CASCADE,
      fix TEXT NOT NULL,
      resolved_at REAL NOT NULL,
      PRIMARY KEY (fingerprint, resolved_at)
    )
    """,
    """
    INSERT INTO resolutions
    SELECT fingerprint, fix, coalesce(resolved_at, last_seen_at) FROM incidents WHERE fix <> ''
    """,
    """
    CREATE TABLE notes (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      fingerprint TEXT NOT NULL REFERENCES incidents(fingerprint) ON DELETE CASCADE,
      text TEXT NOT NULL,
      written_at REAL NOT NULL,
      UNIQUE (fingerprint, written_at, text)
    )
    """,
    """
    CREATE TABLE tags (
      fingerprint TEXT NOT NULL REFERENCES incidents(fingerprint) ON DELETE CASCADE,
      tag TEXT NOT NULL,
      PRIMARY KEY (fingerprint, tag)
    )
    """,
    "CREATE INDEX tags_tag ON tags(tag)",
    # One row an incident, its rowid the incident's number; kept up by sql.record.index_words.
    """
    CREATE VIRTUAL TABLE words USING fts5(
      title, cause, evidence, notes, fix, tags, tokenize = 'unicode61'
    )
    """,
    INDEX_WORDS,
)

THIRD = (
    # what the rule's title was filled with (JSON): it is said again in the reader's language
    "ALTER TABLE incidents ADD COLUMN captures TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE runs ADD COLUMN command TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE runs ADD COLUMN versions TEXT NOT NULL DEFAULT '{}'",  # JSON, package: version
    # the same run in two stores, of which one was merged into the other
    "ALTER TABLE runs ADD COLUMN uid TEXT NOT NULL DEFAULT ''",
    "UPDATE runs SET uid = printf('%s:%d:%.6f', host, id, recorded_at)",
    "CREATE UNIQUE INDEX runs_uid ON runs(uid)",
    """
    CREATE TABLE messages (
      run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
      template TEXT NOT NULL,       -- the text without its numbers
      level TEXT NOT NULL,
      path TEXT NOT NULL,
      line INTEGER NOT NULL,
      text TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (run, template)
    )
    """,
    # the greatest number that an incident had which has been purged: no number is given twice
    "CREATE TABLE numbers (last INTEGER NOT NULL)",
    "INSERT INTO numbers VALUES (0)",
    f"""
    CREATE VIEW incident_list AS
    SELECT number, state,
      muted_at IS NOT NULL AND runs <= {WAKE_RUNS} * muted_runs
      AND occurrences <= {WAKE_OCCURRENCES} * muted_occurrences
      AND (muted_until IS NULL OR muted_until > strftime('%s', 'now') + 0) AS muted,
      severity, rule, title, runs, occurrences AS printed,
      datetime(first_seen_at, 'unixepoch') AS first_seen,
      datetime(last_seen_at, 'unixepoch') AS last_seen, fix,
      (SELECT group_concat(tag, ', ') FROM tags t WHERE t.fingerprint = i.fingerprint) AS tags,
      (SELECT group_concat(text, '; ') FROM notes n WHERE n.fingerprint = i.fingerprint) AS notes,
      fingerprint
    FROM incidents i WHERE runs > 0 ORDER BY last_seen_at DESC
    """,
    """
    CREATE VIEW run_list AS
    SELECT id AS run, name, verdict, phase, step, datetime(started_at, 'unixepoch') AS started,
      datetime(ended_at, 'unixepoch') AS ended, host, folder, command, overrides, versions,
      (SELECT count(*) FROM occurrences o WHERE o.run = r.id) AS incidents,
      (SELECT i.title FROM occurrences o JOIN incidents i USING (fingerprint)
       WHERE o.run = r.id AND o.role = 'root' ORDER BY o.id LIMIT 1) AS root,
      datetime(recorded_at, 'unixepoch') AS recorded
    FROM runs r ORDER BY coalesce(ended_at, recorded_at) DESC
    """,
    """
    CREATE VIEW occurrence_list AS
    SELECT i.number, i.title, r.name AS run, o.role, o.confidence, o.cause, o.phase,
      o.count AS printed, o.workers, datetime(o.last_seen_at, 'unixepoch') AS last_seen,
      e.path, e.line, e.text AS decisive_line
    FROM occurrences o JOIN incidents i USING (fingerprint) JOIN runs r ON r.id = o.run
    LEFT JOIN evidence e ON e.occurrence = o.id AND e.position = 0
    ORDER BY o.last_seen_at DESC
    """,
    """
    CREATE VIEW fix_list AS
    SELECT i.number, i.rule, i.title, f.fix, datetime(f.resolved_at, 'unixepoch') AS resolved,
      i.state
    FROM resolutions f JOIN incidents i USING (fingerprint) ORDER BY f.resolved_at DESC
    """,
)

VIEWS = ("incident_list", "run_list", "occurrence_list", "fix_list")
COMPUTING = f"""
    SELECT (SELECT count(*) FROM sqlite_master
            WHERE type = 'trigger' OR type = 'view' AND name NOT IN {VIEWS})
         + (SELECT count(*) FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c
            WHERE m.type = 'table' AND c.hidden IN (2, 3)) AS n
"""
"""Counts what no store of ours has: triggers, other views, generated columns. Reading a store that
a stranger made would compute whatever they say, for as long as they want."""
