"""Numbers that nobody sets, as the programs themselves give them."""

from lifecycle.agreements.default_settings import amount, default_settings_agreement


def test_our_numbers_are_those_of_the_programs() -> None:
    table = default_settings_agreement()
    assert table.unexplained == []
    assert {row.stage for row in table.computed} >= {"kubelet", "kube-scheduler", "kube-proxy"}


def test_amounts_are_read_as_the_programs_write_them() -> None:
    assert [amount(text) for text in ("5m0s", "10Mi", "0.55", "true", 20)] == [300, 10 << 20, 0.55, True, 20]
