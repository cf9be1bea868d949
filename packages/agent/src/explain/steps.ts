import { broken, type Finding, fine, type Step } from './chain.ts'
import { type Ground, Refusal } from './ground.ts'

// Links that several sources have in common.

/** A folder or file that must be there; `mends` where it is not. */
export function fileStep(ground: Ground, path: string, mends: string): Step {
  return {
    name: 'file',
    async look() {
      const found = await ground.list(path)
      if (!(found instanceof Refusal)) return fine(path, `${found.length} ${found.length === 1 ? 'entry' : 'entries'}`)
      // A file is no folder: that it answers so means that it is there.
      if (found.code === 'ENOTDIR' || found.kind === 'denied') return lookAtFile(ground, path, mends)
      return missing(ground, path, found, mends)
    },
  }
}

async function lookAtFile(ground: Ground, path: string, mends: string): Promise<Finding> {
  const text = await ground.read(path)
  if (text instanceof Refusal && text.kind === 'missing') return missing(ground, path, text, mends)
  return fine(path, 'it is there')
}

/** A root that is empty or not there explains everything below it. */
async function missing(ground: Ground, path: string, refusal: Refusal, mends: string): Promise<Finding> {
  const root = path.startsWith(`${ground.sysfs}/`) ? 'sysfs' : 'procfs'
  const held = await ground.list(ground[root])
  const isRoot = held instanceof Refusal || held.length === 0
  if (!isRoot) return broken(path, refusal.words, mends)
  const answer = held instanceof Refusal ? held.words : 'it is empty'
  return broken(ground[root], answer, `give the place where ${root} is mounted with --path.${root}`)
}

/** A file that must be readable; what the driver refuses is its `counters` link, not this one. */
export function permissionStep(ground: Ground, path: string): Step {
  return {
    name: 'permission',
    async look() {
      const text = await ground.read(path)
      if (!(text instanceof Refusal) || text.kind === 'missing' || text.kind === 'unsupported')
        return fine(`open ${path}`, 'permitted')
      if (text.kind === 'denied')
        return broken(`open ${path}`, text.words, `sudo chmod a+r ${path}, or run Sonde as a user who may read it`)
      const answer = text.code === 'late' ? 'no answer within 2 s' : text.words
      return broken(`read ${path}`, answer, 'the driver or its firmware does not answer: look at dmesg')
    },
  }
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

/** A number in a file; undefined where there is none. */
export async function readNumber(ground: Ground, path: string): Promise<number | undefined> {
  const text = await ground.read(path)
  return typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : undefined
}

/** Bytes for people: 914 GB. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB']
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`
}
