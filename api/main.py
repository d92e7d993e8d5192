"""What the WSGI server loads: `granian --interface wsgi api.main:app`."""

from api.app import create_app
from api.parts import assemble
from controller.logs import configure_logs
from controller.settings import load_settings

_settings = load_settings()
configure_logs(_settings.log_level)
app = create_app(assemble(_settings))
