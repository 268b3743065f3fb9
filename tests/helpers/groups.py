"""Which tests stand apart from `make test`, and why.

A path is that of a file or a folder below tests/, as it begins. `make test-slow` runs both groups.
"""

from __future__ import annotations

# These may run side by side.
SLOW = {
    "test_notebook": "run notebooks in kernels",
    "test_examples.py": "start a program each",
    "test_tracking.py": "start processes with an MLflow store",
    "tracking/": "start processes with an MLflow store",
    "app/mcp/test_stdio.py": "start a server over stdio each",
    "cli/test_batch.py": "replay recorded evaluations",
    "cli/eval/": "replay recorded evaluations",
    "datasets/desk/test_recorded_teaching.py": "replay recorded evaluations",
    "datasets/fred/test_evaluation.py": "replay recorded evaluations",
    "datasets/layers/test_examples.py": "compute every example's reference",
    "datasets/edgar/test_warehouse.py": "build a warehouse of filings by the day",
    "cli/test_runs.py": "start a tracking page",
    "batch/test_on_ray.py": "start a cluster of two nodes",
    "cli/test_budget.py": "compile and evaluate programs",
    "cli/test_own_examples.py": "compile programs on examples of one's own",
    "app/security/test_slow_clients.py": "wait for clients that read nothing",
    "app/security/test_other_people.py": "start a server a case, and ask it as somebody else",
    "optimizers/program/test_round_trip.py": "load programs in new processes",
    "optimizers/program/test_mlflow_model.py": "log and load models with MLflow",
    "answers/test_exported_code.py": "run exported scripts in processes",
    "optimizers/compiling/": "compile programs; `cli/test_compile.py` stays in `make test`",
    "confidentiality/": "search every output of every mode for cell values",
    "traps/": "put some 500 plausible wrong SELECTs through whole questions; `tests/warehouse/checks` stays in `make test`",
    "injections/test_held.py": "attack the boundaries through whole sessions",
    "poison/": "teach what is wrong or meant to harm through whole sessions",
    "attacks/": "attack the boundaries through whole sessions",
    "warehouse/engines/test_dialects.py": "check each SELECT in every dialect; `checks/test_on_engines.py` stays in `make test`",
    "warehouse/test_attack_statements.py": "attack the boundaries through whole sessions",
    "warehouse/test_hostile_files.py": "open hostile files in processes",
    "filings/library/test_exhausting.py": "exhaust memory and time",
    "knowledge/test_teaching_crash.py": "kill processes in the middle of a write",
    "knowledge/test_entries_crash.py": "kill processes in the middle of a write",
}

# What measures seconds or memory of processes, or kills them at a moment, needs the machine for itself.
ALONE = {
    "sandbox/test_attacks.py": "attack limits of seconds and memory",
    "sandbox/test_benign.py": "count seconds of scripts",
    "sandbox/test_container.py": "count seconds of containers",
    "sandbox/test_launch.py": "look at who may read the folders of pytest",
    "sandbox/test_lifetime.py": "kill processes and look for what is left",
    "sandbox/test_limits.py": "reach limits of seconds and memory",
    "sandbox/test_macos.py": "count seconds of processes",
    "sandbox/test_many_calls.py": "measure memory over many calls",
    "sandbox/test_watchdog.py": "kill processes and look for what is left",
    "soak/": "measure memory over many questions",
    "faults/": "kill processes and fill disks",
    "app/test_killed.py": "kill a server at a moment",
    "cli/bench/": "measure seconds and memory",
    "cli/sandbox/test_command.py": "attack limits of seconds and memory",
    "cli/test_interrupt.py": "interrupt commands at a moment",
    "warehouse/test_query_process.py": "kill processes and look for what is left",
}
