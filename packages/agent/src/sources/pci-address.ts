/** Domain, bus, device and function: VMD and Hyper-V have domains of more than four digits, NVML always eight. */
const ADDRESS = /^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([01][0-9a-f])\.([0-7])$/i
/** A pattern of addresses: `*` and `?` in their places. */
const PATTERN = /^(?:([0-9a-f?*]{1,8}):)?([0-9a-f?*]{1,2}:[0-9a-f?*]{1,2}\.[0-7?*])$/i
/** Of a machine with one domain, which tools leave out. */
const DOMAIN = '0000'

/**
 * A PCI address as sysfs spells it, however it was given: `03:00.0`, `0000:3A:00.1` and NVML's `00000000:9B:00.0` are
 * `0000:03:00.0`, `0000:3a:00.1` and `0000:9b:00.0`. Undefined if it is none.
 */
export function pciAddressOf(text: string): string | undefined {
  const [, domain = DOMAIN, bus, device, functionNumber] = ADDRESS.exec(text) ?? []
  if (bus === undefined) return undefined
  const shortest = Number.parseInt(domain, 16).toString(16).padStart(4, '0')
  return `${shortest}:${bus}:${device}.${functionNumber}`.toLowerCase()
}

/** A PCI address of NVML as sysfs spells it. Empty if it is none. */
export function sysfsAddress(busId: string): string {
  return pciAddressOf(busId) ?? ''
}

/** The name of a device as sources know it: a PCI address as sysfs spells it, any other name as it is. */
export function deviceName(text: string): string {
  return pciAddressOf(text) ?? text
}

/** The same of a pattern of names, which may start with `!`. */
export function devicePattern(pattern: string): string {
  const bang = pattern.startsWith('!') ? '!' : ''
  const rest = pattern.slice(bang.length)
  const [, domain = DOMAIN, place] = PATTERN.exec(rest) ?? []
  return `${bang}${pciAddressOf(rest) ?? (place === undefined ? rest : `${domain}:${place}`.toLowerCase())}`
}
