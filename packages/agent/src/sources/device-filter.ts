import { list, pattern, setting } from '@sonde/sdk/config'

const PATTERN_LIMIT = 64
const PATTERN = /^!?[^\s/!]{1,64}$/

/** Schema of a list of such patterns. */
export const devicePatterns = list(
  pattern(PATTERN, 'a device name or pattern such as eth0, mlx5_* or !veth*'),
  PATTERN_LIMIT,
  'patterns',
)

/**
 * Schema of a `devices` option: glob patterns (`*` any text, `?` one character) of the device names that are read. A
 * pattern that starts with `!` leaves devices out. A device is read when it matches a pattern, or there are only `!`
 * patterns, and matches no `!` pattern. At most 64 patterns. Default: all.
 */
export const devicesOption = setting(
  devicePatterns,
  [],
  'Patterns of the device names to read, `*` and `?` as in a shell; `!` first leaves devices out. Empty: all',
)

/** A test of device names against the patterns of {@link devicesOption}. */
export function deviceFilter(patterns: readonly string[]): (device: string) => boolean {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map(globExpression)
  const unwanted = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => globExpression(pattern.slice(1)))
  return (device) =>
    (wanted.length === 0 || wanted.some((pattern) => pattern.test(device))) &&
    !unwanted.some((pattern) => pattern.test(device))
}

function globExpression(pattern: string): RegExp {
  const source = pattern.replace(/\*+|\?|[^*?]+/g, (part) => {
    if (part.startsWith('*')) return '.*'
    return part === '?' ? '.' : part.replace(/[\\^$.+()[\]{}|]/g, '\\$&')
  })
  return new RegExp(`^${source}$`, 'su')
}
