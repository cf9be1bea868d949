import { countOf } from '@sonde/sdk/internal'
import { readLine } from './attributes.ts'
import { broken, type Finding, fine, type Step } from './chain.ts'
import { type Ground, Refusal } from './ground.ts'

// Links that several sources have in common.

/** A folder or file that must be there; `fix` if it is not. */
export function fileStep(ground: Ground, path: string, fix: string): Step {
  return {
    name: 'file',
    async look() {
      const found = await ground.list(path)
      if (!(found instanceof Refusal)) return fine(path, countOf(found.length, 'entry', 'entries'))
      // A file is no folder: that it answers so means that it is there.
      if (found.code === 'ENOTDIR' || found.kind === 'denied') return lookAtFile(ground, path, fix)
      return missing(ground, path, found, fix)
    },
  }
}

async function lookAtFile(ground: Ground, path: string, fix: string): Promise<Finding> {
  const found = await ground.read(path)
  if (found instanceof Refusal && found.kind === 'missing') return missing(ground, path, found, fix)
  return fine(path, 'it is there')
}

/** A root that is empty or not there explains everything below it. */
async function missing(ground: Ground, path: string, refusal: Refusal, fix: string): Promise<Finding> {
  const root = path.startsWith(`${ground.sysfs}/`) ? 'sysfs' : 'procfs'
  const held = await ground.list(ground[root])
  const isRoot = held instanceof Refusal || held.length === 0
  if (!isRoot) return broken(path, refusal.words, fix)
  const answer = held instanceof Refusal ? held.words : 'it is empty'
  return broken(ground[root], answer, `give the place where ${root} is mounted with --path.${root}`)
}

/** The driver of a device; `none` is what it means that there is none. */
export function driverStep(ground: Ground, device: string, none: () => Promise<Finding>): Step {
  return {
    name: 'driver',
    async look() {
      const link = `${device}/driver`
      const driver = await ground.target(link)
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
export const busOf = (ground: Ground): string => `${ground.sysfs}/bus/pci/devices`

/**
 * The command that gives a PCI device without a driver its own; undefined if none is known for it. A module that is
 * loaded is bound, which loading it again would not do.
 */
export async function bindCommand(ground: Ground, address: string): Promise<string | undefined> {
  const folder = `${busOf(ground)}/${address}`
  const [kind, vendor] = await Promise.all([readLine(ground, `${folder}/class`), readLine(ground, `${folder}/vendor`)])
  const known = MODULES.find(({ start, vendor: of }) => String(kind).startsWith(start) && vendor === of)
  if (known === undefined) return undefined
  const driver = `${ground.sysfs}/bus/pci/drivers/${known.module}`
  const isLoaded = !((await ground.list(driver)) instanceof Refusal)
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
