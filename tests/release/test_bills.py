"""The bills of materials of build/dist, judged by the libraries of those who define their forms."""

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document


def test_cyclonedx(dist):
    [bill] = dist.glob("*.cdx.json")
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(bill.read_text()) is None


def test_spdx(dist):
    [bill] = dist.glob("*.spdx.json")
    assert validate_full_spdx_document(parse_file(str(bill))) == []
