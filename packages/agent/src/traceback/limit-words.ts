/** No-break space: a number and its unit stay on one line. */
const GAP = '\u00a0'
const PREFIXES = [
  [10n ** 12n, 'T'],
  [10n ** 9n, 'G'],
  [10n ** 6n, 'M'],
] as const

/** Symbols of the units of fields. Others are written as they are, in words. */
const SYMBOLS: Readonly<Record<string, string>> = {
  amperes: 'A',
  bytes: 'B',
  bytes_per_second: 'B/s',
  celsius: '°C',
  db: 'dB',
  dbm: 'dBm',
  hertz: 'Hz',
  nanoseconds: 'ns',
  percent: '%',
  // A share of 1 has no unit.
  ratio: '',
  seconds: 's',
  transfers_per_second: 'T/s',
  volts: 'V',
  watts: 'W',
}

/** A limit with its unit, as exact as in the file: `32 GT/s`, `220 °C`, `1048576 B`. */
export function limitWords(limit: bigint | number, unit: string): string {
  const symbol = SYMBOLS[unit] ?? unit.replaceAll('_', ' ')
  if (symbol === '') return String(limit)
  const whole = typeof limit === 'bigint' ? limit : Number.isSafeInteger(limit) ? BigInt(limit) : undefined
  // Only symbols take a prefix, and only round numbers stay exact with it.
  const [factor, prefix] = PREFIXES.find(([step]) => whole !== undefined && whole >= step && whole % step === 0n) ?? []
  const isScaled = whole !== undefined && factor !== undefined && Object.hasOwn(SYMBOLS, unit)
  return isScaled ? `${whole / factor}${GAP}${prefix}${symbol}` : `${limit}${GAP}${symbol}`
}
