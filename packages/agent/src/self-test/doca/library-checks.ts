import { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { DocaLibrary } from '../../native/doca/library.ts'
import { PciPort } from '../../native/doca/pci.ts'
import { PhyPort } from '../../native/doca/phy.ts'
import { type DocaSymbol, TELEMETRY } from '../../native/doca/symbols.ts'
import { type ChainContext, ReadRefusal } from '../../sources/chains/chain-context.ts'
import { type CheckVerdict, failed, listOf, notPossible, passed } from '../check.ts'
import { DOCA_PARTS } from './bench.ts'
import { FIRST_LINK } from './pci-checks.ts'

/** Functions of newer versions, whose structures were in no header that was read. */
const NEWER = [
  ...['read_management_info', 'read_perf_counters_1', 'get_latency_histogram_dimensions', 'read_latency_histogram'].map(
    (name) => `doca_telemetry_pci_${name}_by_pci_addr`,
  ),
  'doca_telemetry_phy_get_fec_histogram_info',
  'doca_telemetry_phy_get_management_cable_single_page_info',
  'doca_telemetry_pcc_cap_rep_is_supported',
  'doca_telemetry_pcc_rep_create',
]

/** Checks that the library has functions of each part. */
export function checkDomains(library: DocaLibrary): CheckVerdict {
  const names = Object.keys(TELEMETRY) as DocaSymbol[]
  const missing = names.filter((name) => !library.has(name))
  const empty = DOCA_PARTS.filter((part) =>
    names.every((name) => !name.includes(`_${part}_`) || missing.includes(name)),
  )
  const found = `${names.length - missing.length} of ${names.length} functions; missing: ${listOf(missing)}`
  return empty.length === 0
    ? passed(found)
    : failed('functions of all six domains', `none of ${empty.join(', ')}; ${found}`)
}

/** Lists functions of newer versions. */
export function checkNewer(library: DocaLibrary): CheckVerdict {
  const found = NEWER.filter((name) => library.exports(name))
  return passed(listOf(found.map((name) => name.replace('doca_telemetry_', ''))))
}

/** Reads two devices at once, and one device by two contexts, and compares the answers. */
export async function checkParallel(library: DocaLibrary, names: readonly string[]): Promise<CheckVerdict> {
  const ports = await Promise.all(names.slice(0, 2).map((name) => openBoth(library, name)))
  try {
    const opened = ports.filter((port): port is BothPorts => !(port instanceof DocaFailure))
    const [refused] = ports.filter((port) => port instanceof DocaFailure)
    if (refused !== undefined && opened.length === 0) return notPossible(refused.name)
    const together = await Promise.all(opened.map(readBoth))
    const alone: string[] = []
    for (const port of opened) alone.push(await readBoth(port))
    const what = `${opened.length === 1 ? 'one device' : 'two devices'} at once, with a context of phy and of pci each`
    if (together.join() !== alone.join()) return failed(`${alone.join()}, as read alone`, together.join())
    return opened.length < 2
      ? notPossible(`there is one device that answers; ${what} gave the same as alone`)
      : passed(what)
  } finally {
    for (const port of ports) if (!(port instanceof DocaFailure)) await port.device.close()
  }
}

interface BothPorts {
  readonly device: DocaDevice
  readonly phy: PhyPort
  readonly pci: PciPort
}

async function openBoth(library: DocaLibrary, name: string): Promise<BothPorts | DocaFailure> {
  const device = await DocaDevice.open(library, name)
  if (device instanceof DocaFailure) return device
  const phy = await PhyPort.open(device)
  const pci = phy instanceof DocaFailure ? phy : await PciPort.open(device, FIRST_LINK)
  if (phy instanceof DocaFailure || pci instanceof DocaFailure) {
    await device.close()
    return phy instanceof DocaFailure ? phy : (pci as DocaFailure)
  }
  return { device, phy, pci }
}

async function readBoth({ phy, pci }: BothPorts): Promise<string> {
  // A device has memory for one call at a time.
  const [link, bus] = [await phy.link(), await pci.link()]
  const speed = link instanceof DocaFailure ? link.name : `${link.bytesPerSecond ?? 'down'}`
  return `${speed} and ${bus instanceof DocaFailure ? bus.name : `generation ${bus.generation} of ${bus.lanes} lanes`}`
}

/**
 * Checks whether a user without root reads devices, if the device files permit it.
 *
 * @param answers Devices that answered, and devices that denied.
 */
export async function checkPermission(
  { devfs, list, permits }: Pick<ChainContext, 'devfs' | 'list' | 'permits'>,
  answers: { readonly read: number; readonly denied: number },
): Promise<CheckVerdict> {
  if (process.getuid?.() === 0) return notPossible('this user is root')
  if (answers.read > 0) return passed(`${answers.read} devices answer to a user who is not root`)
  const nodes = await list(`${devfs}/fwctl`)
  if (nodes instanceof ReadRefusal) return notPossible('there is no fwctl node')
  const permitted = await Promise.all(nodes.map((node) => permits(`${devfs}/fwctl/${node}`)))
  if (permitted.some((answer) => answer instanceof ReadRefusal))
    return notPossible('this user may not read and write the fwctl nodes')
  return answers.denied > 0
    ? failed('an answer', 'denied, although the fwctl nodes permit it')
    : notPossible('no device answered')
}
