"""What jobs ask and say of themselves: as a client sees it, and as the files that it is."""

import errno
import json
import os
import re
import shlex
import string
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

from backburner_host import durations, form, inside, questions, report
from backburner_host.capabilities import JobsFailure, Progress, Report
from backburner_host.form import Form
from backburner_host.jobs import SupervisedJobs
from backburner_host.limits import ANSWER_BYTES_MAX, FORM_BYTES_MAX, QUESTIONS_MAX, REPORT_TEXT_BYTES_MAX
from backburner_host.questions import Asker

from .support import PATIENCE_SECONDS, TASKS, DirectoryCase, Server, ended, new_id, request, spec, until

PERSON = TASKS | {"elicitation": {}}
"""What a client can do that can ask its person."""

HERE = Path(__file__).resolve().parent.parent

PROGRAM = f"{shlex.quote(sys.executable)} -m backburner_host"
"""This program in a shell line of a job."""


class AskingServer(Server):
    """A server whose jobs find this package, for a client with a person."""

    def __init__(self, data: Path):
        super().__init__(data, "--direct-limit", "0")

    def start(self, line: str) -> str:
        """Run a line that calls `PROGRAM`."""
        return self.run(line, cwd=str(HERE))

    def asked(self, id: str, count: int = 1) -> dict[str, dict]:
        """What a task asks, by its keys, as soon as it asks so many things."""

        def look() -> list[dict]:
            task = self.ask("tasks/get", {"taskId": id}, PERSON)
            requests = task.get("inputRequests", {})
            assert task["status"] == ("input_required" if requests else "working"), task
            return [requests] if len(requests) == count else []

        return until(f"{count} questions", look)[0]

    def answer(self, id: str, key: str, answer: dict) -> None:
        """Answer one."""
        self.ask("tasks/update", {"taskId": id, "inputResponses": {key: answer}}, PERSON)

    def text(self, id: str) -> str:
        """What a task that has ended has written."""
        until("the task to end", lambda: self.task(id)["status"] == "completed")
        return self.task(id)["result"]["content"][0]["text"]


class Asking(DirectoryCase):
    """A job, a server and a client."""

    def server(self) -> AskingServer:
        server = AskingServer(self.directory / "data")
        self.addCleanup(server.kill)
        return server

    def test_a_job_asks_a_client_of_another_server_answers_and_the_job_goes_on(self) -> None:
        first = self.server()
        fields = "--field 'where:a|b=B:Where to' --field 'note?:text'"
        id = first.start(f"{PROGRAM} ask 'Which?' {fields} --deadline 1h30m; echo ended with $?")
        ((key, question),) = first.asked(id).items()
        self.assertEqual(question["method"], "elicitation/create")
        until_when = (
            r"\AWhich\?\n\(if nobody answers by 2.* UTC, 1 h 30 min after this was asked, there is no answer\)\Z"
        )
        self.assertRegex(question["params"]["message"], until_when)
        schema = question["params"]["requestedSchema"]
        self.assertEqual((list(schema["properties"]), schema["required"]), (["where", "note"], ["where"]))
        self.assertEqual(schema["properties"]["where"]["title"], "Where to")
        first.kill()
        second = self.server()
        second.answer(id, key, {"action": "accept", "content": {"where": "c"}})
        self.assertEqual(list(second.asked(id)), [key], "an answer that does not fit leaves the question open")
        second.answer(id, key, {"action": "accept", "content": {"where": "b"}})
        self.assertIn('{"where":"b"}\nended with 0', second.text(id))

    def test_the_exit_status_says_what_the_person_did(self) -> None:
        server = self.server()
        lines = [f"{{ {PROGRAM} ask {it}; echo {it} $?; }} &" for it in ("first --boolean", "second", "third --text")]
        id = server.start(f"{' '.join(lines)} wait")
        answers = {
            "first": {"action": "accept", "content": {"answer": True}},
            "second": {"action": "decline"},
            "third": {"action": "cancel"},
        }
        for key, question in server.asked(id, 3).items():
            server.answer(id, key, answers[question["params"]["message"]])
        text = server.text(id)
        for line in ("true\n", "first --boolean 0", "second 1", "third --text 2"):
            self.assertIn(line, text)

    def test_a_number_is_printed_as_the_person_wrote_it(self) -> None:
        server = self.server()
        id = server.start(f"{PROGRAM} ask 'How much?' --number")
        ((key, _request),) = server.asked(id).items()
        answer = {"action": "accept", "content": {"answer": 1.25}}
        update = request(0, "tasks/update", {"taskId": id, "inputResponses": {key: answer}}, PERSON)
        # What Python would not write.
        server.send_raw(update.replace(b"1.25", b"1.250"))
        server.reply(0)
        self.assertIn("\n1.250", server.text(id))

    def test_an_answer_that_cannot_be_printed_is_no_refusal(self) -> None:
        server = self.server()
        for streams in ("> /dev/full", ">&-", "> /dev/full 2>&1", ">&- 2>&-", "> /dev/full 2>&-"):
            id = server.start(f"{PROGRAM} ask Which --text {streams}; echo ended with $?")
            (key,) = server.asked(id)
            server.answer(id, key, {"action": "accept", "content": {"answer": "a"}})
            self.assertIn("ended with 125", server.text(id), streams)
            if streams == ">&-":
                self.assertIn("standard output is closed", server.text(id))
            if streams == "> /dev/full":
                self.assertIn("No space left", server.text(id))

    def test_a_question_is_withdrawn_when_its_asker_ends(self) -> None:
        server, gate = self.server(), self.gate()
        id = server.start(f"{PROGRAM} ask Wait & asker=$!; read _ < {gate}; kill -9 $asker; sleep 300")
        server.asked(id)
        gate.open()
        server.asked(id, 0)
        server.ask("tasks/cancel", {"taskId": id})
        self.assertEqual(server.ended_task(id)["status"], "cancelled")

    def test_a_deadline_ends_a_question(self) -> None:
        server = self.server()
        id = server.start(f"{PROGRAM} ask Late --text --deadline 0s500ms; echo ended with $?")
        self.assertIn("ended with 2", server.text(id))

    def test_a_job_says_how_far_it_is(self) -> None:
        server = self.server()
        id = server.start(f"{PROGRAM} progress 40 compiling all of it; sleep 300")
        until("its words", lambda: re.search("40.*compiling all of it", server.task(id).get("statusMessage", "")))
        server.ask("tasks/cancel", {"taskId": id})
        self.assertEqual(server.ended_task(id)["status"], "cancelled")


class CommandLine(DirectoryCase):
    """`ask` and `progress` as a person types them."""

    def refuse(self, status: int, words: str, *arguments: str, **variables: str) -> None:
        ran = subprocess.run(
            [sys.executable, "-m", "backburner_host", *arguments],
            capture_output=True,
            text=True,
            env=_outside() | variables,
            cwd=HERE,
            check=False,
        )
        self.assertEqual((ran.returncode, ran.stdout), (status, ""), arguments)
        self.assertIn(words, ran.stderr)

    def test_it_is_refused_in_words_outside_of_a_job(self) -> None:
        self.refuse(125, "this is no job", "ask", "a")
        self.refuse(125, "this is no job", "progress", "1")
        ghost = {"BACKBURNER_DIR": str(self.directory), "BACKBURNER_TASK_ID": new_id()}
        self.refuse(125, "no job that runs", "ask", "a", **ghost)
        self.refuse(125, "backburner-host", "progress", "1", **ghost | {"BACKBURNER_TASK_ID": "../x"})

    def test_what_is_wrong_is_not_said_in_the_place_of_the_answer(self) -> None:
        words = ["sh", "-c", f"{PROGRAM} ask a 2>&-"]
        ran = subprocess.run(words, stdout=subprocess.PIPE, env=_outside(), cwd=HERE, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (125, b""))

    def test_what_is_wrong_is_refused_in_words(self) -> None:
        for wrong, words in [
            (["a", "--choice", "b"], "--choice"),
            (["a", "--url=https://example.org/"], "--url"),
            ([], "message"),
            (["a", "--text", "--number"], "one kind"),
            (["a", "--deadline", "0"], "365d"),
            (["a", "--deadline", "366d"], "365d"),
            (["a", "--deadline", "1h1h"], "365d"),
            (["a", "--field", "b"], "--field"),
        ]:
            self.refuse(125, words, "ask", *wrong)
        self.refuse(2, "percentage", "progress")
        self.refuse(2, "0 to 100", "progress", "101", "a")
        self.refuse(2, "0 to 100", "progress", "-1")

    def test_a_report_is_a_percentage_a_text_or_both_as_in_the_native_program(self) -> None:
        for words, said in [
            (["40", "a"], (40, "a")),
            (["99.9%"], (99, "")),
            (["40 %"], (40, "")),
            (["1e1"], (10, "")),
            (["a b"], (None, "a b")),
            (["a", "b"], (None, "a b")),
            (["40", "a", "101"], (40, "a 101")),
            (["3 of 7"], (None, "3 of 7")),
            (["1_0"], (None, "1_0")),
            ([""], (None, "")),
        ]:
            self.assertEqual(inside.split(words), said)
        for word in ("101", "100.1", "101%", "-1", "-0.1", "nan", "NaN", "inf", "-inf", "infinity", "1e9"):
            for words in ([word], [word, "a"]):
                with self.subTest(words), self.assertRaises(inside.WrongUsage):
                    inside.split(words)


class Forms(unittest.TestCase):
    """What is asked, and what is printed of an answer."""

    def schema(self, *fields: form.Field) -> dict:
        return json.loads(Form("m", list(fields)).text)["requestedSchema"]

    def test_a_form_has_what_the_options_say(self) -> None:
        self.assertEqual(self.schema(), {"type": "object", "properties": {}, "required": []})
        self.assertEqual(self.schema(form.only("text"))["properties"], {"answer": {"type": "string"}})
        choices = self.schema(form.named("a:x|y=Y:Title"))["properties"]["a"]
        titles = [{"const": "x", "title": "x"}, {"const": "y", "title": "Y"}]
        self.assertEqual(choices, {"type": "string", "oneOf": titles, "title": "Title"})
        both = self.schema(form.named("2:text"), form.named("1?:x|y"))
        self.assertEqual((list(both["properties"]), both["required"]), (["2", "1"], ["2"]))
        self.assertEqual(both["properties"]["1"], {"type": "string", "enum": ["x", "y"]})

    def test_a_person_reads_until_when(self) -> None:
        # 2026-07-28 12:00:00 UTC, and half a second.
        noon_ms = 1_785_240_000_500
        for ms, words in [
            (600_000, "2026-07-28 12:10:00 UTC, 10 min"),
            (90_000, "2026-07-28 12:01:30 UTC, 1 min 30 s"),
            (5_400_000, "2026-07-28 13:30:00 UTC, 1 h 30 min"),
            (7_200_000, "2026-07-28 14:00:00 UTC, 2 h"),
            (172_800_000, "2026-07-30 12:00:00 UTC, 2 d"),
            (700, "2026-07-28 12:00:01 UTC, 700 ms"),
            (60_250, "2026-07-28 12:01:00 UTC, 1 min 0.25 s"),
        ]:
            note = f"\n(if nobody answers by {words} after this was asked, there is no answer)"
            self.assertEqual(form.until_when(ms, noon_ms), note)
        self.assertEqual(json.loads(Form("m", [], "\nn").text)["message"], "m\nn")

    def test_a_deadline_is_said_in_all_its_units(self) -> None:
        for ms, words in {
            1: "1 ms",
            999: "999 ms",
            1_000: "1 s",
            10_000: "10 s",
            60_250: "1 min 0.25 s",
            3_600_500: "1 h 0.5 s",
            93_784_005: "1 d 2 h 3 min 4.005 s",
            172_800_000: "2 d",
        }.items():
            self.assertEqual(durations.lasting(ms), words)

    def test_a_message_that_is_too_long_is_told_how_long_it_may_be(self) -> None:
        Form("ä" * 3990, [], "n" * 10)
        with self.assertRaisesRegex(ValueError, "of 1 to 3990 characters: what --deadline adds"):
            Form("ä" * 3991, [], "n" * 10)
        with self.assertRaisesRegex(ValueError, "of 1 to 4000 characters$"):
            Form("ä" * 4001, [])

    def test_durations_have_a_unit_or_are_seconds(self) -> None:
        for text, ms in {
            "90": 90_000,
            "90s": 90_000,
            "2d": 172_800_000,
            "0.0001s": 1,
            "1.1d": 95_040_000,
            "30.999999999999d": 2_678_400_000,
            ".5": 500,
            ".5m": 30_000,
            "1h30m": 5_400_000,
            "1h 30m": 5_400_000,
            "1d2h3m4.5s": 93_784_500,
            "10min": 600_000,
            "1m250ms": 60_250,
        }.items():
            self.assertEqual(durations.read(text), ms, text)
        wrong = (
            ",s,-1,+1,1.,.,.s,1.5.5,1.+5,1e3,5 m,5x,1h30,1h1h,30m1h,1m1min,1hm,1h  30m,1h , 1h,1H,0x10,nan,"
            "1.9999999999999,ä,٣s,1\n,999999999999999999999"
        )
        for text in wrong.split(","):
            self.assertIsNone(durations.read(text), text)

    def test_what_nobody_can_be_asked_is_refused(self) -> None:
        for wrong in ("a", "a:word", ":text", "?:text", "a:x|x", "\n:text", "", f"{'a' * 101}:text"):
            with self.subTest(wrong), self.assertRaises(ValueError):
                form.named(wrong)
        # Of most of these the component makes no question, so that somebody would wait for ever; the others are blank.
        for wrong in ("a:x=1|x=2", "a:x|", "a:x|=y", "a:x| ", "a:x|\u200by", "a\u200b:text", " :text"):
            with self.subTest(wrong), self.assertRaises(ValueError):
                form.named(wrong)
        for wrong in (
            "a=b",
            " a",
            "a ",
            "\u00a0a",
            "a\u00a0b",
            "a\u3164b",
            "\uffa0",
            "a\u00adb",
            "a\nb",
            "a–b",
            "a\ufe0f",
        ):
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, "letters, digits, blanks"):
                form.named(f"{wrong}:text")
        # A mark belongs to the letter before it.
        for wrong in ("\u0301a", "a \u0301", "1\u20e3", "a\u034f"):
            with self.subTest(wrong), self.assertRaises(ValueError):
                form.named(f"{wrong}:text")
        for right in (
            "हिन्दी",
            "ชื่อ",
            "e\u0301te\u0301",
            "q\u0307\u0323",
            "my name",
            "größe-名前_2",
            string.punctuation.replace("=", "").replace(":", ""),
            "٣",
            "a" * 100,
        ):
            self.assertEqual(form.named(f"{right}:text").name, right)
        form.named("a:👩\u200d🚀|b:Who")
        for message in ("", " \n", "\u0007", "\u200b\u2028"):
            with self.subTest(message), self.assertRaisesRegex(ValueError, "give a message"):
                Form(message, [])
        many = [form.named(f"{number}:text") for number in range(33)]
        Form("m", many[1:])
        with self.assertRaisesRegex(ValueError, "at most 32 fields"):
            Form("m", many)
        for message, fields in [(" ", []), ("m" * 4001, []), ("m", [form.named("a:text")] * 2)]:
            with self.subTest(message[:9]), self.assertRaises(ValueError):
                Form(message, fields)

    def test_an_answer_is_printed_in_one_line(self) -> None:
        text = Form("m", [form.only("text")])
        self.assertEqual(text.printed({"answer": "a\nb"}), "a b")
        self.assertEqual(text.printed_as_json({"answer": "a\nb"}), '"a\\nb"')
        self.assertEqual((text.printed({}), text.printed_as_json({})), ("", "null"))
        self.assertEqual(Form("m", [form.only("boolean")]).printed({"answer": False}), "false")
        self.assertEqual(Form("m", [form.named("answer:text")]).printed({"answer": "é"}), '{"answer":"é"}')
        many = '{"answer":1.50,"b":123456789012345678901234567890,"c":["1.50"],"d":1E2,"e":true,"f":null}'
        number = Form("m", [form.only("number")])
        self.assertEqual(number.printed(form.read_answer(many)), "1.50")
        self.assertEqual(number.printed_as_json(form.read_answer(many)), "1.50")
        self.assertEqual(Form("m", [form.named("b:number")]).printed(form.read_answer(many)), many)
        nothing = Form("m", [])
        self.assertEqual((nothing.printed(None), nothing.printed_as_json(None)), (None, "{}"))


class Files(DirectoryCase):
    """The files, of a job that does nothing and whose process this one pretends to be."""

    def setUp(self) -> None:
        super().setUp()
        self.jobs = SupervisedJobs(self.directory)
        self.id = new_id()
        self.jobs.start(self.id, spec(["sleep", "300"]))
        self.addCleanup(ended, self.jobs, self.id)
        self.addCleanup(self.jobs.stop, self.id, "cancelled")
        self.job = self.directory / "jobs" / self.id

    def ask(self, text: str = '{"message":"m"}') -> Asker:
        asker = Asker(str(self.job), text)
        self.addCleanup(asker.withdraw)
        return asker

    def progress(self) -> Progress:
        state = self.jobs.inspect(self.id)
        self.assertIsInstance(state, Progress)
        return state

    def keys(self) -> list[str]:
        return [question.key for question in self.progress().questions]

    def test_the_first_answer_stays_and_one_to_a_question_that_is_not_open_changes_nothing(self) -> None:
        asker = self.ask()
        (key,) = self.keys()
        with self.assertRaisesRegex(JobsFailure, "an answer may have"):
            self.jobs.answer(self.id, key, "x" * (ANSWER_BYTES_MAX + 1))
        self.assertEqual(self.keys(), [key], "an answer that is too long leaves it open")
        self.jobs.answer(self.id, key, '"first"')
        self.assertEqual(self.keys(), [])
        self.jobs.answer(self.id, key, '"second"')
        self.assertEqual((asker.answered(), asker.conclude('"third"')), ('"first"', '"first"'))
        for id, other in [(self.id, "../spec"), (self.id, "x"), (new_id(), key)]:
            self.jobs.answer(id, other, '"x"')
        asker.withdraw()
        self.assertEqual(os.listdir(self.job / "questions"), [])

    def test_the_greatest_answer_arrives(self) -> None:
        asker = self.ask()
        greatest = "\x01" * ANSWER_BYTES_MAX
        self.jobs.answer(self.id, self.keys()[0], greatest)
        self.assertEqual(asker.answered(), greatest)

    def test_who_waits_is_woken_and_no_deadline_is_too_long(self) -> None:
        asker = self.ask()
        heard = []
        waiting = threading.Thread(target=lambda: heard.append(asker.answered(400 * 86_400)))
        waiting.start()
        self.jobs.answer(self.id, self.keys()[0], '"x"')
        waiting.join(PATIENCE_SECONDS)
        self.assertEqual(heard, ['"x"'])

    def test_a_job_has_at_most_32_questions_oldest_first(self) -> None:
        askers = [self.ask(str(number)) for number in range(QUESTIONS_MAX)]
        with self.assertRaisesRegex(ValueError, "asks 32 other questions"):
            self.ask()
        forms = [question.form for question in self.progress().questions]
        self.assertEqual(forms, [str(number) for number in range(QUESTIONS_MAX)])
        askers[7].withdraw()
        self.ask()
        with self.assertRaisesRegex(ValueError, "may have"):
            self.ask("x" * (FORM_BYTES_MAX + 1))

    def test_what_a_job_puts_in_the_place_of_questions_is_none(self) -> None:
        directory = self.job / "questions"
        directory.mkdir()
        os.mkfifo(directory / "fifo.asked")
        (directory / "directory.asked").mkdir()
        (directory / "link.asked").symlink_to(self.job / "spec.json")
        for name, text in {
            "text": "x",
            "null": _record(None),
            "list": "[]",
            "deep": "[" * 100_000,
            "other": _record({"form": 1, "asked_at": 1}),
            "time": _record({"form": "x", "asked_at": "x"}),
            "true": _record({"form": "x", "asked_at": True}),
            "future": _record({"form": "x", "asked_at": 1 << 63}),
            "half": _record({"form": "\ud800", "asked_at": 1}),
            "long": _record({"form": "x" * (FORM_BYTES_MAX + 1), "asked_at": 1}),
            "dead": _record({"form": "x", "asked_at": 1}),
            "UPPER": _record({"form": "x", "asked_at": 1}),
        }.items():
            (directory / f"{name}.asked").write_text(text)
            if name != "dead":
                # As of somebody who waits.
                os.mkfifo(directory / f"{name}.wake")
                self.addCleanup(os.close, os.open(directory / f"{name}.wake", os.O_RDWR))
        self.assertEqual(self.keys(), [])
        directory.rename(self.job / "away")
        directory.write_text("no directory")
        self.assertEqual(self.keys(), [])

    def test_what_a_job_puts_in_the_place_of_all_questions_asks_nothing_and_takes_no_answer(self) -> None:
        self.ask()
        (key,) = self.keys()
        directory, away = self.job / "questions", self.job / "away"
        directory.rename(away)
        for target in (away, directory):
            directory.symlink_to(target)
            self.assertEqual(self.keys(), [])
            self.jobs.answer(self.id, key, '"x"')
            directory.unlink()
        away.rename(directory)
        self.assertEqual(self.keys(), [key])
        with mock.patch("os.open", side_effect=PermissionError(errno.EACCES, "as for everybody but root")):
            self.assertEqual(questions.all_open(str(self.job)), [])

    def test_what_an_asker_left_that_was_killed_is_deleted(self) -> None:
        code = "import sys; from backburner_host.questions import Asker; Asker(sys.argv[1], 'x')"
        subprocess.run([sys.executable, "-c", code, self.job], check=True, cwd=HERE)
        directory = self.job / "questions"
        self.assertEqual(len(os.listdir(directory)), 2)
        self.assertEqual(questions.all_open(str(self.job)), [])
        self.ask().withdraw()
        self.assertEqual(os.listdir(directory), [])

    def test_a_report_is_the_last_one_and_ends_with_a_whole_character(self) -> None:
        self.assertIsNone(self.progress().report)
        long = "x" + "é" * REPORT_TEXT_BYTES_MAX
        report.write(str(self.job), Report(None, long, 7))
        self.assertEqual(self.progress().report, Report(None, long[:500], 7))
        report.write(str(self.job), Report(100, "\x01" * REPORT_TEXT_BYTES_MAX, 8))
        self.assertEqual(self.progress().report, Report(100, "\x01" * REPORT_TEXT_BYTES_MAX, 8))
        self.assertEqual([name for name in os.listdir(self.job) if "report" in name], ["report.json"])

    def test_what_a_job_puts_in_the_place_of_its_report_is_none(self) -> None:
        right = {"percent": 1, "text": "x", "at": 1}
        for wrong in (
            {"percent": 101},
            {"percent": "1"},
            {"percent": 1.5},
            {"text": 1},
            {"text": "\ud800"},
            {"at": -1},
        ):
            (self.job / "report.json").write_text(_record(right | wrong))
            self.assertIsNone(self.progress().report, wrong)
        (self.job / "report.json").write_text(_record(right))
        self.assertEqual(self.progress().report, Report(1, "x", 1))


def _record(content: object) -> str:
    return json.dumps({"format": 1, "content": content})


def _outside() -> dict[str, str]:
    """The environment of what is no process of a job."""
    return {name: value for name, value in os.environ.items() if name != "BACKBURNER_TASK_ID"}
