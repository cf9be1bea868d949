/** Domain, bus, device and function. VMD and Hyper-V use domains of more than four digits, NVML always writes eight. */
const ADDRESS = /^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([01][0-9a-f])\.([0-7])$/i
/** A pattern of addresses, which may contain `*` and `?`. */
const PATTERN = /^(?:([0-9a-f?*]{1,8}):)?([0-9a-f?*]{1,2}:[0-9a-f?*]{1,2}\.[0-7?*])$/i
/** The only domain of most machines; tools omit it. */
const DOMAIN = '0000'

/**
 * Converts a PCI address to the spelling of sysfs: `03:00.0`, `0000:3A:00.1` and NVML's `00000000:9B:00.0` become
 * `0000:03:00.0`, `0000:3a:00.1` and `0000:9b:00.0`. Undefined if the text is no address.
 */
export function pciAddressOf(text: string): string | undefined {
  const [, domain = DOMAIN, bus, device, functionNumber] = ADDRESS.exec(text) ?? []
  if (bus === undefined) return undefined
  const shortest = Number.parseInt(domain, 16).toString(16).padStart(4, '0')
  return `${shortest}:${bus}:${device}.${functionNumber}`.toLowerCase()
}

/** Converts a PCI address of NVML to the spelling of sysfs; empty if the text is no address. */
export function sysfsAddress(busId: string): string {
  return pciAddressOf(busId) ?? ''
}

/** Normalises the name of a device: a PCI address gets the spelling of sysfs, other names stay unchanged. */
export function deviceName(text: string): string {
  return pciAddressOf(text) ?? text
}

/** Normalises a pattern of device names, which may start with `!`. */
export function devicePattern(pattern: string): string {
  const bang = pattern.startsWith('!') ? '!' : ''
  const rest = pattern.slice(bang.length)
  const [, domain = DOMAIN, place] = PATTERN.exec(rest) ?? []
  return `${bang}${pciAddressOf(rest) ?? (place === undefined ? rest : `${domain}:${place}`.toLowerCase())}`
}
