"""The interactive screen: `verl-doctor tui`.

`logfile` reads and searches logs of any size and knows no screen; `reading` runs the pipeline in a
thread; `widgets` and `screens` show what they are given and decide nothing about a run.
"""
