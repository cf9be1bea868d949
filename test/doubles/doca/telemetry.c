// What libdoca_telemetry of the double says about itself.

#include "double.h"

API const char *sonde_doca_double(void)
{
	return "doca double";
}
