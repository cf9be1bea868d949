import { countOf } from '@sonde/sdk/internal'
import { readLine } from './attributes.ts'
import { broken, type Finding, fine, type Step } from './chain.ts'
import { type ChainContext, ReadRefusal } from './chain-context.ts'

// Steps that several sources share.

/** Checks that a folder or file exists; `fix` is the advice if it does not. */
export function fileStep(context: ChainContext, path: string, fix: string): Step {
  return {
    name: 'file',
    async check() {
      const found = await context.list(path)
      if (!(found instanceof ReadRefusal)) return fine(path, countOf(found.length, 'entry', 'entries'))
      // ENOTDIR means that the path is a file, so it exists.
      if (found.code === 'ENOTDIR' || found.kind === 'denied') return checkFile(context, path, fix)
      return missing(context, path, found, fix)
    },
  }
}

async function checkFile(context: ChainContext, path: string, fix: string): Promise<Finding> {
  const found = await context.read(path)
  if (found instanceof ReadRefusal && found.kind === 'missing') return missing(context, path, found, fix)
  return fine(path, 'it is there')
}

/** If the root is empty or missing, reports the root instead of the path. */
async function missing(context: ChainContext, path: string, refusal: ReadRefusal, fix: string): Promise<Finding> {
  const root = path.startsWith(`${context.sysfs}/`) ? 'sysfs' : 'procfs'
  const held = await context.list(context[root])
  const isRoot = held instanceof ReadRefusal || held.length === 0
  if (!isRoot) return broken(path, refusal.words, fix)
  const answer = held instanceof ReadRefusal ? held.words : 'it is empty'
  return broken(context[root], answer, `pass the mount point of ${root} with --path.${root}`)
}

/** Checks the driver of a device; `none` returns the finding if it has no driver. */
export function driverStep(context: ChainContext, device: string, none: () => Promise<Finding>): Step {
  return {
    name: 'driver',
    async check() {
      const link = `${device}/driver`
      const driver = await context.target(link)
      return driver instanceof ReadRefusal ? none() : fine(link, driver)
    },
  }
}

/** Kernel modules for the devices that Sonde reads, by class code and vendor. */
const MODULES: readonly { readonly start: string; readonly vendor: string; readonly module: string }[] = [
  { start: '0x03', vendor: '0x10de', module: 'nvidia' },
  { start: '0x02', vendor: '0x15b3', module: 'mlx5_core' },
]

/** Folder of the PCI devices in sysfs. */
export const pciBusFolder = (context: ChainContext): string => `${context.sysfs}/bus/pci/devices`

/**
 * Returns the command that gives a driver to a PCI device without one; undefined if no module is known for it. If the
 * module is already loaded, the command binds the device, because loading it again would not.
 */
export async function bindCommand(context: ChainContext, address: string): Promise<string | undefined> {
  const folder = `${pciBusFolder(context)}/${address}`
  const [kind, vendor] = await Promise.all([
    readLine(context, `${folder}/class`),
    readLine(context, `${folder}/vendor`),
  ])
  const known = MODULES.find(({ start, vendor: of }) => String(kind).startsWith(start) && vendor === of)
  if (known === undefined) return undefined
  const driver = `${context.sysfs}/bus/pci/drivers/${known.module}`
  const isLoaded = !((await context.list(driver)) instanceof ReadRefusal)
  return isLoaded ? `echo ${address} | sudo tee ${driver}/bind` : `sudo modprobe ${known.module}`
}

/** Formats bytes for people: 914 GB. */
export function bytesText(bytes: number | bigint): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB']
  let value = Number(bytes)
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`
}
