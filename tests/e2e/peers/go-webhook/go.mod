module truce.dev/tests/e2e/peers/go-webhook

go 1.24.0
