import { list, nameFilter, pattern, setting } from '@sonde/sdk/config'
import { deviceName, devicePattern } from './pci-address.ts'

const PATTERN_LIMIT = 64
const PATTERN = /^!?[^\s/!]{1,64}$/

/** Schema of a list of device patterns. */
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

/**
 * Returns a function that matches names against patterns. PCI addresses may have any spelling: `3A:00.1` is
 * `0000:3a:00.1`.
 */
export function deviceFilter(patterns: readonly string[]): (name: string) => boolean {
  const isNamed = nameFilter(patterns.map(devicePattern))
  return (name) => isNamed(deviceName(name))
}
