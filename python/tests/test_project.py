"""Files around the sources: one version, citation, workflows, issue forms and hooks that are what their readers expect."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
WORKFLOWS = sorted((SOURCE / ".github" / "workflows").glob("*.yml"))
FORMS = [path for path in sorted((SOURCE / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"]


def read_yaml(path):
    yaml = pytest.importorskip("yaml", reason="SKIPPED: PyYAML is not installed")
    return yaml.safe_load((SOURCE / path).read_text())


def tool(name):
    """A program of PyPI next to the interpreter or in PATH."""
    beside = pathlib.Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"SKIPPED: {name} is not installed (PyPI)")
    return found


def passes(*command):
    ended = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def version():
    return re.search(r'ASSAY_VERSION_TEXT "(.*)"', (SOURCE / "include/assay/version.h").read_text())[1]


def test_one_file_names_the_version_and_the_citation_agrees():
    assert re.search(r'^dynamic = \["version"\]', (SOURCE / "pyproject.toml").read_text(), re.MULTILINE)
    assert read_yaml("CITATION.cff")["version"] == version()
    released = [heading for heading in re.findall(r"^## (.*)$", (SOURCE / "CHANGELOG.md").read_text(), re.MULTILINE) if heading != "Unreleased"]
    assert released[0].split()[0] == version()


def test_the_citation_is_valid():
    passes(tool("cffconvert"), "--validate", "-i", "CITATION.cff")
    bibtex = subprocess.run([tool("cffconvert"), "-f", "bibtex", "-i", "CITATION.cff"], cwd=SOURCE, capture_output=True, text=True).stdout
    assert "title = {Assay}" in bibtex


@pytest.mark.parametrize("kind, paths", [("vendor.github-workflows", WORKFLOWS), ("vendor.github-actions", [SOURCE / "action.yml"])])
def test_workflows_and_the_action_follow_their_schema(kind, paths):
    assert paths
    passes(tool("check-jsonschema"), "--builtin-schema", kind, *map(str, paths))


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_workflows_call_the_scripts_of_the_project():
    scripts = [s for path in WORKFLOWS for step in steps_of(read_yaml(path)) for s in re.findall(r"(?:scripts|\.ci)/[\w.-]+", step.get("run", ""))]
    assert {".ci/run", "scripts/release.sh", "scripts/site.sh"} <= set(scripts)
    assert [s for s in scripts if not (SOURCE / s).exists()] == []


def test_workflows_ask_for_no_more_than_they_need():
    for path in WORKFLOWS:
        workflow = read_yaml(path)
        assert workflow["permissions"] == {"contents": "read"}, path.name
        writing = {job for job, known in workflow["jobs"].items() if "write" in known.get("permissions", {}).values()}
        assert writing <= {"publish"}


def test_other_actions_are_taken_at_a_version():
    steps = [step for path in WORKFLOWS for step in steps_of(read_yaml(path))] + read_yaml("action.yml")["runs"]["steps"]
    used = {step["uses"] for step in steps if "uses" in step}
    assert used and all(re.fullmatch(r"(actions|github)/[\w/-]+@v\d+", name) for name in used)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_ask_for_something(path):
    form = read_yaml(path)
    assert form["name"] and form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in fields} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_hooks_are_valid_and_run_what_there_is():
    hooks = [hook for repository in read_yaml(".pre-commit-config.yaml")["repos"] for hook in repository["hooks"]]
    offered = read_yaml(".pre-commit-hooks.yaml")
    assert [hook["id"] for hook in offered] == ["assay-gate"]
    assert (SOURCE / "python" / (offered[0]["entry"].split()[-1].replace(".", "/") + ".py")).exists()
    for hook in hooks:
        named = [word for word in hook["entry"].split() if "/" in word]
        assert named and all((SOURCE / word).exists() for word in named), hook["id"]
    passes(tool("pre-commit"), "validate-config", ".pre-commit-config.yaml")
    passes(tool("pre-commit"), "validate-manifest", ".pre-commit-hooks.yaml")


def test_the_development_package_needs_what_a_build_needs():
    listed = re.search(r"library_packages=\((.*?)\)", (SOURCE / "scripts/packages.sh").read_text(), re.DOTALL)[1].split()
    asked = re.search(r'DEVELOPMENT_PACKAGE_DEPENDS "(.*?)"', (SOURCE / "cmake/AssayPackages.cmake").read_text(), re.DOTALL)[1]
    needed = set(asked.replace("\\\n", " ").replace(",", " ").split())
    only_to_build = {"libxxhash-dev"}  # no header and no library of ours passes them on
    assert set(listed) - needed == only_to_build
    assert needed - set(listed) == {"cmake", "g++", "pkg-config"}


def test_the_image_is_made_by_a_script_that_is_tried_without_an_engine():
    steps, tried = (SOURCE / "Containerfile").read_text(), (SOURCE / "scripts/check-image.sh").read_text()
    assert "COPY release/image_root.sh /\n" in steps and "RUN /image_root.sh /image /wheels/*.whl\n" in steps
    assert "/image_root.sh /kept/image /given/*.whl" in tried and "release/image_root.sh" in tried


def test_changed_networks_and_data_wake_the_hook():
    pattern = re.compile(read_yaml(".pre-commit-hooks.yaml")[0]["files"])
    assert all(pattern.search(name) for name in ("net.onnx", "models/a.keras", "weights.h5", "test.npz", "x.npy"))
    assert not pattern.search("README.md")
