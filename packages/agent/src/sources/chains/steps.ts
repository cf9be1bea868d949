import { countOf } from '@sonde/sdk/internal'
import { readLine } from './attributes.ts'
import { broken, type Finding, fine, type Step } from './chain.ts'
import { type ChainContext, Refusal } from './chain-context.ts'

// Links that several sources have in common.

/** A folder or file that must be there; `fix` if it is not. */
export function fileStep(context: ChainContext, path: string, fix: string): Step {
  return {
    name: 'file',
    async check() {
      const found = await context.list(path)
      if (!(found instanceof Refusal)) return fine(path, countOf(found.length, 'entry', 'entries'))
      // A file is no folder: that it answers so means that it is there.
      if (found.code === 'ENOTDIR' || found.kind === 'denied') return checkFile(context, path, fix)
      return missing(context, path, found, fix)
    },
  }
}

async function checkFile(context: ChainContext, path: string, fix: string): Promise<Finding> {
  const found = await context.read(path)
  if (found instanceof Refusal && found.kind === 'missing') return missing(context, path, found, fix)
  return fine(path, 'it is there')
}

/** A root that is empty or not there explains everything below it. */
async function missing(context: ChainContext, path: string, refusal: Refusal, fix: string): Promise<Finding> {
  const root = path.startsWith(`${context.sysfs}/`) ? 'sysfs' : 'procfs'
  const held = await context.list(context[root])
  const isRoot = held instanceof Refusal || held.length === 0
  if (!isRoot) return broken(path, refusal.words, fix)
  const answer = held instanceof Refusal ? held.words : 'it is empty'
  return broken(context[root], answer, `give the place where ${root} is mounted with --path.${root}`)
}

/** The driver of a device; `none` is what it means that there is none. */
export function driverStep(context: ChainContext, device: string, none: () => Promise<Finding>): Step {
  return {
    name: 'driver',
    async check() {
      const link = `${device}/driver`
      const driver = await context.target(link)
      return driver instanceof Refusal ? none() : fine(link, driver)
    },
  }
}

/** Modules that drive what Sonde watches, by class code and vendor. */
const MODULES: readonly { readonly start: string; readonly vendor: string; readonly module: string }[] = [
  { start: '0x03', vendor: '0x10de', module: 'nvidia' },
  { start: '0x02', vendor: '0x15b3', module: 'mlx5_core' },
]

/** Folder of the PCI devices that the kernel lists. */
export const pciBusFolder = (context: ChainContext): string => `${context.sysfs}/bus/pci/devices`

/**
 * The command that gives a PCI device without a driver its own; undefined if none is known for it. A module that is
 * loaded is bound, which loading it again would not do.
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
  const isLoaded = !((await context.list(driver)) instanceof Refusal)
  return isLoaded ? `echo ${address} | sudo tee ${driver}/bind` : `sudo modprobe ${known.module}`
}

/** Bytes for people: 914 GB. */
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
