"""The commands: what they print, their exit status, and that the two agree."""

from __future__ import annotations

import contextlib
import json
import mailbox
import os
import pathlib
import re
import subprocess
import sys

import pytest

from patchlore.cli import main, make_parser
from patchlore.ingest.detect import format_names
from tests.cli.conftest import BACKPORT, UPSTREAM, Run

COMMANDS = (
    "ingest parse pr prs commit show thread explain series backports export stats check".split()
)


def test_pr_tells_the_patch_before_the_reply(run: Run) -> None:
    """Strong evidence first, each place with its line, quotations last."""
    status, out, _ = run("pr", "123456")
    assert status == 0
    assert out.startswith("PR 123456: 3 mails, 1 patch about it\n")
    assert f"upstream commits: {UPSTREAM}" in out
    assert out.index("<backport@example.org>") < out.index("<reply@example.org>")
    assert "trailer: Link: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=123456" in out
    assert "diff-added: +/* https://gcc.gnu.org" in out
    assert "stands in quoted text only" in out


def test_pr_says_when_a_bug_stands_in_context_only(run: Run) -> None:
    """A context line is no patch about the bug, and that is said."""
    out = run("pr", "PR99999").out
    assert "0 patches about it" in out
    assert out.count("stands in a context line only") == 2


def test_pr_in_json_is_one_object(run: Run) -> None:
    """The same dossier for programs."""
    dossier = json.loads(run("pr", "123456", "--json").out)
    assert dossier["bug"] == {"tracker": "gcc", "number": 123456, "component": None, "name": None}
    assert dossier["hits"][0]["message"]["message_id"] == "backport@example.org"
    assert [place["place"] for place in dossier["hits"][0]["places"]] == ["trailer", "diff-added"]


def test_pr_of_an_unknown_bug_is_status_1(run: Run) -> None:
    """Nothing found is 1 and says so on standard error."""
    assert run("pr", "424242") == (1, "", "patchlore: No mail in the archive names PR 424242.\n")


def test_pr_of_nonsense_is_wrong_usage(run: Run) -> None:
    """What can't be a bug number is status 2."""
    assert run("pr", "tick").status == 2


def test_prs_lists_bugs(run: Run) -> None:
    """All bugs with counts; a date in the future leaves none."""
    out = run("prs").out
    assert re.search(r"PR 123456 +3 mails +1 patch", out)
    assert run("prs", "--since", "2030-01-01").status == 1
    assert run("prs", "--since", "soon").status == 2
    assert len(run("prs", "--json").out.splitlines()) == 2


def test_commit_tells_backports_and_fixes(run: Run) -> None:
    """From an abbreviation: state per tree, what it fixes, what fixes it, each with the line."""
    out = run("commit", UPSTREAM[:10]).out
    assert out.startswith(f"commit {UPSTREAM}\n  tick: use two\n")
    assert "5.10: in-flight (picked by AUTOSEL, 15 of 24)" in out
    assert f"[ Upstream commit {UPSTREAM} ]" in out
    assert re.search(r"fixes\n  fedcba987654", out)
    assert re.search(r"fixed by\n  2024-01-04  patch, Cy Marlow", out)
    assert f'Fixes: {UPSTREAM[:12]} ("tick: use two")' in out


def test_commit_in_a_tree_is_a_timeline(run: Run) -> None:
    """--tree leaves only what happened there."""
    out = run("commit", UPSTREAM, "--tree", "v5.10").out
    assert "picked by AUTOSEL" in out
    assert "fixed by" not in out
    nothing = run("commit", UPSTREAM, "--tree", "6.1")
    assert (nothing.status, nothing.out) == (1, "")
    assert "with 6.1" in nothing.err


def test_commit_in_json_has_events(run: Run) -> None:
    """The same for programs, with the events of each tree in words."""
    dossier = json.loads(run("commit", UPSTREAM, "--json").out)
    assert dossier["sha"] == UPSTREAM
    (state,) = dossier["trees"]
    assert state["events"][0]["words"] == "picked by AUTOSEL, 15 of 24"


def test_commit_that_is_unknown_is_status_1(run: Run) -> None:
    """A commit that no mail names, and one that is too short."""
    assert run("commit", "aaaaaaaaaaaa").status == 1
    assert "7 or more" in run("commit", "012345").err


def test_backports_lists_the_tree(run: Run) -> None:
    """Posted and nominated commits, by any spelling of the tree."""
    out = run("backports", "linux-5.10.y").out
    assert out.startswith("5.10: 2 upstream commits (1 nominated, 1 in-flight)\n")
    assert "picked by AUTOSEL, 15 of 24" in out
    assert "nominated (Cc: stable # 5.4+)" in out


def test_backports_for_programs_leave_closed_states_out(run: Run) -> None:
    """ids has what can be taken; --state chooses; --output writes a file."""
    assert run("backports", "5.10", "--format", "ids").out == f"{UPSTREAM}\n"
    assert run("backports", "5.10", "--format", "ids", "--state", "failed").status == 1
    assert run("backports", "5.10", "--state", "lost").status == 2
    assert run("backports", "5.10", "--format", "pdf").status == 2
    assert run("backports", "2.6.11").status == 1
    assert run("backports", "5.10", "--pr", "tick").status == 2
    assert "1 upstream commit" in run("backports", "5.10", "--pr", "123456", "--autosel").out
    assert len(run("backports", "5.10", "--json").out.splitlines()) == 2


def test_output_is_a_file_that_is_there_when_complete(run: Run, tmp_path: pathlib.Path) -> None:
    """A list is written to its path; where that is impossible, the message names it."""
    target = tmp_path / "5.10.csv"
    assert run("backports", "5.10", "--format", "csv", "--output", str(target)).out == ""
    assert target.read_text().startswith("tree,upstream_commit,state")
    assert [path.name for path in tmp_path.iterdir()] == ["5.10.csv"]
    failed = run("backports", "5.10", "--output", str(tmp_path / "no" / "list"))
    assert failed.status == 1
    assert "Can't write" in failed.err


def test_show_prints_facts_and_body_harmlessly(run: Run) -> None:
    """Escape sequences of a mail are shown as text."""
    out = run("show", "reply@example.org").out
    assert "In reply to  backport@example.org" in out
    assert "\\x1b[31mred" in out
    assert "\x1b" not in out


def test_show_raw_is_the_mail(run: Run) -> None:
    """Byte for byte, for git am."""
    assert run("show", "--raw", "<backport@example.org>").out == BACKPORT


def test_show_diff_applies(run: Run, tmp_path: pathlib.Path) -> None:
    """Only the diff, ready for git apply."""
    diff = run("show", "--diff", "backport@example.org").out
    assert diff.startswith("diff --git a/tick.c b/tick.c\n")
    (tmp_path / "tick.c").write_text(
        "one\n/* https://gcc.gnu.org/bugzilla/show_bug.cgi?id=99999 */\n"
    )
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "tick.c").read_text().startswith("two\n")


def test_show_without_a_diff_is_status_1(run: Run) -> None:
    """A reply carries none."""
    assert run("show", "--diff", "reply@example.org").status == 1


def test_show_takes_any_name(run: Run) -> None:
    """A commit, a bug and a CVE are shown as by their own commands."""
    assert run("show", UPSTREAM[:12]).out == run("commit", UPSTREAM[:12]).out
    assert run("show", "PR123456").out == run("pr", "123456").out
    assert "<fix@example.org>" in run("show", "CVE-2024-12345").out
    assert run("show", "CVE-2000-11111").status == 1
    assert run("show", "absent@example.org").status == 1
    assert run("show", "--raw", UPSTREAM).status == 2


def test_show_in_json_has_facts_and_copies(run: Run) -> None:
    """The object of `parse` with the copies of the message."""
    shown = json.loads(run("show", "--json", "backport@example.org").out)
    assert shown["upstream_commits"] == [UPSTREAM]
    assert [copy["fidelity"] for copy in shown["copies"]] == ["exact"]


def test_thread_shows_who_answers_whom(run: Run) -> None:
    """The cover that was not seen, the patch, the reply below it."""
    out = run("thread", "reply@example.org").out
    assert out.startswith("thread of 2 mails\n(not seen) <cover@example.org>\n")
    nodes = [
        json.loads(line) for line in run("thread", "reply@example.org", "--json").out.splitlines()
    ]
    assert [(node["depth"], node["seen"]) for node in nodes] == [(0, False), (1, True), (2, True)]


def test_explain_names_line_rule_and_confidence(run: Run) -> None:
    """Each fact with what proves it."""
    out = run("explain", "backport@example.org").out
    assert "upstream_commits" in out
    assert re.search(rf"line \d+, rule [\w-]+, certain: \[ Upstream commit {UPSTREAM} \]", out)
    explained = json.loads(run("explain", "backport@example.org", "--json").out)
    assert any(item["fact"] == "fixes" for item in explained["evidence"])


def test_stats_count(run: Run) -> None:
    """The numbers, for people and for programs."""
    assert re.search(r"messages +3\n", run("stats").out)
    numbers = json.loads(run("stats", "--json").out)
    assert (numbers["messages"], numbers["not_indexed"]) == (3, 3)


def test_check_says_what_it_verified(run: Run) -> None:
    """A whole archive is status 0."""
    status, out, _ = run("check")
    assert status == 0
    assert "verified: raw mail and facts of 3 messages" in out
    assert json.loads(run("check", "--json").out)["faults"] == []


def test_export_can_be_ingested_into_an_equal_archive(
    run: Run, tmp_path: pathlib.Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Every mail comes out as it went in."""
    out = tmp_path / "all.mbox"
    assert run("export", "--all", "--output", str(out)).status == 0
    with contextlib.closing(mailbox.mbox(out)) as box:
        assert len(box) == 3
    copy = str(tmp_path / "copy")
    assert main(["--archive", copy, "ingest", "--no-index", str(out)]) == 0
    assert main(["--archive", copy, "show", "--raw", "backport@example.org"]) == 0
    assert capfdbinary.readouterr().out == BACKPORT.encode()


def test_parse_prints_an_object_a_message(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What can be read is printed, what can't is named, and the status is 1."""
    (tmp_path / "a.eml").write_text(BACKPORT)
    (tmp_path / "empty").write_text("")
    paths = [str(tmp_path / name) for name in ("a.eml", "empty", "absent")]
    assert main(["parse", paths[0]]) == 0
    first = capfd.readouterr()
    assert json.loads(first.out)["source"]["path"] == paths[0]
    assert main(["parse", "--json", *paths]) == 1
    out, err = capfd.readouterr()
    assert out == first.out
    assert "empty" in err
    assert "absent" in err


def test_a_reader_without_an_archive_is_told_how_to_make_one(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Status 2, and nothing is made."""
    for command in ("stats", "prs", "check"):
        assert main(["--archive", str(tmp_path / "none"), command]) == 2
        assert "ingest SOURCE" in capfd.readouterr().err
    assert not (tmp_path / "none").exists()


def test_ingest_ends_with_the_summary_line(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the form that others read; 1 when a source could not be read."""
    (tmp_path / "a.eml").write_text(BACKPORT)
    arguments = ["--archive", str(tmp_path / "archive"), "ingest", "--no-index"]
    assert main([*arguments, str(tmp_path / "a.eml")]) == 0
    line = r"read 1, new 1, merged 0, damaged 0 in \d+\.\d s \(\d+ mails/s\)\n"
    assert re.fullmatch(line, capfd.readouterr().err)
    assert main([*arguments, str(tmp_path / "absent"), str(tmp_path / "a.eml")]) == 1


def test_the_archive_is_found_by_the_environment(
    archive: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """$PATCHLORE_ARCHIVE, else patchlore in $XDG_DATA_HOME, else in ~/.local/share."""
    monkeypatch.setenv("PATCHLORE_ARCHIVE", str(archive))
    assert main(["stats"]) == 0
    monkeypatch.delenv("PATCHLORE_ARCHIVE")
    monkeypatch.setenv("XDG_DATA_HOME", "/nowhere")
    capfd.readouterr()
    assert main(["stats"]) == 2
    assert "/nowhere/patchlore" in capfd.readouterr().err
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", "/nobody")
    assert main(["stats"]) == 2
    assert "/nobody/.local/share/patchlore" in capfd.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command explains itself with commands that can be pasted."""
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"patchlore {command}" in capsys.readouterr().out.split("examples:")[1]


def test_every_option_and_argument_is_explained() -> None:
    """No command has a word in its --help without an explanation."""
    (commands,) = (action for action in make_parser()._actions if isinstance(action.choices, dict))
    assert isinstance(commands.choices, dict)
    silent = [
        (name, action.dest)
        for name, parser in commands.choices.items()
        for action in parser._actions
        if not action.help
    ]
    assert silent == []


@pytest.mark.parametrize("command", ["ingest", "parse"])
def test_help_lists_the_formats(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--format takes a name that nobody should have to look up elsewhere."""
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = "".join(capsys.readouterr().out.split())  # argparse breaks lines at hyphens
    assert all(name in out for name in format_names())


def test_an_empty_query_is_wrong_usage(run: Run) -> None:
    """One plain sentence, no caret below nothing."""
    for query in ("", "   "):
        status, out, err = run("search", query)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "give words or a prefix" in err


def test_an_unknown_tree_is_named_with_the_nearest(run: Run) -> None:
    """A typing mistake is no empty list."""
    status, out, err = run("backports", "6.99")
    assert (status, out) == (1, "")
    assert err == "patchlore: the tree 6.99 is not known; the nearest are 6.19, 6.18, 6.17.\n"


def test_a_list_for_machines_without_open_rows_says_what_widens_it(run: Run) -> None:
    """ids and mbox leave closed rows out: that is said where nothing is left."""
    err = run("backports", "5.10", "--format", "ids", "--author", "nobody").err
    assert "--format ids takes needed, nominated, in-flight, queued: --state all widens it" in err
    assert "widens" not in run("backports", "5.10", "--state", "queued").err


@pytest.mark.parametrize("since", ["last friday", "2.weeks.ago", "20240102", "2024-01", "noon"])
def test_since_takes_what_git_takes(run: Run, since: str) -> None:
    """Dates of backports and prs are those of search."""
    assert run("backports", "5.10", "--since", since).err.count("no date") == 0
    assert run("prs", "--since", since).status in (0, 1)


def test_since_of_nonsense_is_wrong_usage(run: Run) -> None:
    """git takes any text for now; patchlore says that it is no date."""
    status, _, err = run("prs", "--since", "whenever")
    assert status == 2
    assert "'whenever' is no date" in err


def test_wrong_usage_is_status_2() -> None:
    """An unknown command or option ends before anything is done."""
    for arguments in (["no-such-command"], ["stats", "--no-such-option"], []):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A script for the shell that names the commands."""
    with pytest.raises(SystemExit) as end:
        main(["--print-completion", shell])
    assert end.value.code == 0
    assert "backports" in capsys.readouterr().out


def test_the_bash_completion_is_a_valid_script(capsys: pytest.CaptureFixture[str]) -> None:
    """bash reads it without complaint."""
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    script = capsys.readouterr().out
    subprocess.run(["bash", "-n"], input=script.encode(), check=True)


def test_a_reader_that_closes_early_ends_the_command_quietly(archive: pathlib.Path) -> None:
    """`patchlore export --all | head -c 1` says nothing and is no failure."""
    command = [sys.executable, "-m", "patchlore", "--archive", str(archive), "export", "--all"]
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_version_needs_no_heavy_module() -> None:
    """`patchlore --version` is quick: neither parser nor database nor index is loaded."""
    code = (
        "import sys\nfrom patchlore.cli import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'sqlite3', 'zstandard', 'whoosh', 'lxml', 'tqdm', 'shtab', 'msgspec'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert out.decode().splitlines()[1] == "[]"


def test_words_are_searched_without_what_reads_mail_and_expressions(archive: pathlib.Path) -> None:
    """A search loads no finder of facts, no parser of pages and no RE2: its start is its cost."""
    code = (
        "import sys\nfrom patchlore.cli import main\n"
        f"main(['--archive', {str(archive)!r}, 'search', '--format', 'ids', 'fix'])\n"
        "heavy = {'re2', 'lxml', 'bs4', 'lark', 'patchlore.ingest.facts'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert out.decode().splitlines()[-1] == "[]"


def test_a_closed_report_is_found_by_its_message_id(run: Run) -> None:
    """`closes:` takes a Message-ID though the tag has the URL of an archive."""
    for query in ("closes:reply@example.org", "closes:lore.kernel.org/r/reply@example.org"):
        assert run("search", query, "--format", "ids").out == "fix@example.org\n"
    assert run("search", "link:reply@example.org").status == 1


def test_a_cc_trailer_is_no_cc_header(run: Run) -> None:
    """Who stands in a `Cc:` of the commit message was sent nothing: c: must not find her."""
    assert run("search", "c:dora").status == 1
    assert run("search", "a:dora").status == 1
    assert run("search", "cc-trailer:dora", "--format", "ids").out == "fix@example.org\n"
    assert run("search", "tag:cc", "--format", "ids").out == "fix@example.org\n"
