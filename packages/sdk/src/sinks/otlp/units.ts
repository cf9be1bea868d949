/** Units of Sonde in the spelling of UCUM, which OpenTelemetry asks for. */
const UCUM: Readonly<Record<string, string>> = {
  bytes: 'By',
  bytes_per_second: 'By/s',
  bits_per_second: 'bit/s',
  seconds: 's',
  s: 's',
  milliseconds: 'ms',
  microseconds: 'us',
  nanoseconds: 'ns',
  ratio: '1',
  percent: '%',
  celsius: 'Cel',
  MiB: 'MiBy',
  MHz: 'MHz',
  watts: 'W',
  joules: 'J',
  millijoules: 'mJ',
  volts: 'V',
  amperes: 'A',
  hertz: 'Hz',
  db: 'dB',
  dbm: 'dB[mW]',
  rpm: '{revolution}/min',
  transfers_per_second: '{transfer}/s',
}

/**
 * The unit of a metric. A unit that UCUM does not have is a note in braces, which counts as 1: `packets` is
 * `{packets}`. Empty if there is none.
 */
export function ucumOf(unit: string | undefined): string {
  if (unit === undefined || unit === '') return ''
  return Object.hasOwn(UCUM, unit) ? (UCUM[unit] ?? '') : `{${unit}}`
}
