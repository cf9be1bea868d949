import { KernelText } from '../kernel-text.ts'

/** A line of `mountinfo`. */
export interface Mount {
  /** Identifies the file system: `254:0`. */
  readonly device: string
  /** The folder of the file system that is mounted; `/` unless it is a bind mount or a subvolume. */
  readonly root: string
  readonly mountpoint: string
  readonly fstype: string
  /** What is mounted, such as `/dev/nvme0n1p2` or `server:/export`. */
  readonly origin: string
  readonly isReadOnly: boolean
}

/** Content of `mountinfo`; `malformed` is the first line that cannot be read. */
export interface Mounts {
  readonly mounts: Mount[]
  readonly malformed: string | undefined
}

/** Columns before the optional ones, which end with a lone dash. */
const FIRST_COLUMNS = 6

/**
 * Reads `mountinfo`. A mount hides earlier ones at the same place. Of several mounts of a file system, the whole one
 * with the shortest path counts: the others are bind mounts, of which a node with many pods has thousands.
 */
export function parseMountinfo(bytes: Uint8Array): Mounts {
  const text = new KernelText(bytes)
  const seen = new Map<string, Mount>()
  let malformed: string | undefined
  for (; !text.done; text.nextLine()) {
    const start = text.at
    const mount = mountOf(text.textTo(text.lineEnd()).split(' '))
    if (mount !== undefined) seen.set(mount.mountpoint, mount)
    else {
      const line = text.lineFrom(start)
      if (line !== '') malformed ??= line
    }
  }
  const mounts = new Map<string, Mount>()
  for (const mount of seen.values()) {
    const known = mounts.get(mount.device)
    if (known === undefined || isBefore(mount, known)) mounts.set(mount.device, mount)
  }
  return { mounts: [...mounts.values()], malformed }
}

function mountOf(columns: readonly string[]): Mount | undefined {
  const [, , device, root, mountpoint, options] = columns
  const dash = columns.indexOf('-', FIRST_COLUMNS)
  const [fstype, origin, superOptions] = dash < 0 ? [] : columns.slice(dash + 1)
  if (!device || !root || !mountpoint || !options || !fstype || origin === undefined) return undefined
  const isReadOnly = [options, superOptions ?? ''].some((list) => list.split(',').includes('ro'))
  return { device, root: plain(root), mountpoint: plain(mountpoint), fstype, origin: plain(origin), isReadOnly }
}

/** The kernel writes blanks and backslashes as three octal digits. */
function plain(text: string): string {
  if (!text.includes('\\')) return text
  const bytes = Buffer.from(text).toString('latin1')
  const unescaped = bytes.replaceAll(/\\([0-3][0-7]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
  return Buffer.from(unescaped, 'latin1').toString()
}

function isBefore(a: Mount, b: Mount): boolean {
  const [wholeA, wholeB] = [a.root === '/', b.root === '/']
  return wholeA === wholeB ? a.mountpoint.length < b.mountpoint.length : wholeA
}
