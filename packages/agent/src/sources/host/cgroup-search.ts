import fs from 'node:fs'
import { join } from 'node:path'
import { kernelErrorCode, OPEN_FLAGS } from '../kernel-file.ts'
import { type PressureShares, parseShares } from './parse-cgroups.ts'

/** Resources whose pressure control groups report. */
export const CGROUP_RESOURCES = ['cpu', 'memory', 'io'] as const
/** One of {@link CGROUP_RESOURCES}. */
export type CgroupResource = (typeof CGROUP_RESOURCES)[number]

/** Below this share nobody searches for a cause. */
const SHARE_MIN = 0.01
/** Control groups that one search reads. Policy: the groups below those that wait least are skipped. */
const GROUPS_LIMIT = 4096
const DEPTH_LIMIT = 8
/** A pressure file has two lines. Unit: bytes. */
const FILE_BYTES = 512
/** Entries of a folder that are read at once: a user may make a hundred thousand groups in one folder. */
const ENTRIES_AT_ONCE = 64

/** A control group with pressure. */
export interface PressedGroup {
  /** Path below the root: `/system.slice/ssh.service`. */
  readonly path: string
  readonly shares: Readonly<Partial<Record<CgroupResource, PressureShares>>>
}

/** What a search found. */
export interface CgroupsFound {
  readonly groups: readonly PressedGroup[]
  readonly read: number
  readonly skipped: number
  /** Error code of the first refusal at the top; empty if there was none. */
  readonly refusal: string
}

/**
 * Searches for control groups with pressure. A group waits at least as long as each group below it, so groups below a
 * group that does not wait are left out: on a calm node only the top is read.
 */
export class CgroupSearch {
  readonly #root: string
  readonly #waiting: PressedGroup[] = []
  readonly #groups: PressedGroup[] = []
  readonly #buffer = Buffer.allocUnsafe(FILE_BYTES)
  /** The folder whose groups are read. */
  #folder: { readonly path: string; readonly entries: fs.Dir } | undefined
  #read = 0
  #skipped = 0
  #refusal = ''

  /** @throws an error of the system if the root cannot be listed. */
  constructor(root: string) {
    this.#root = root
    this.#folder = { path: '', entries: this.#open('') }
  }

  /** Ends the search early. May be called twice. */
  close(): void {
    this.#folder?.entries.closeSync()
    this.#folder = undefined
  }

  #open(path: string): fs.Dir {
    return fs.opendirSync(join(this.#root, path), { bufferSize: ENTRIES_AT_ONCE })
  }

  /** Goes on until a time; undefined while the search has not ended. Unit: milliseconds of `performance.now`. */
  step(endMs: number): CgroupsFound | undefined {
    do {
      const path = this.#next()
      if (path !== undefined) this.#take(path)
      else if (this.#folder === undefined && !this.#descend())
        return { groups: this.#groups, read: this.#read, skipped: this.#skipped, refusal: this.#refusal }
    } while (performance.now() < endMs)
    return undefined
  }

  /** The next entry of the folder, if it is a group; undefined otherwise. */
  #next(): string | undefined {
    if (this.#folder === undefined) return undefined
    const { path, entries } = this.#folder
    let entry: fs.Dirent | null = null
    try {
      entry = entries.readSync()
    } catch (error) {
      if (this.#refusal === '') this.#refusal = kernelErrorCode(error)
    }
    if (entry === null) this.close()
    return entry?.isDirectory() === true ? `${path}/${entry.name}` : undefined
  }

  #take(path: string): void {
    if (this.#read >= GROUPS_LIMIT || path.split('/').length > DEPTH_LIMIT + 1) {
      this.#skipped++
      return
    }
    this.#read++
    const shares: Partial<Record<CgroupResource, PressureShares>> = {}
    for (const resource of CGROUP_RESOURCES) {
      const found = this.#sharesOf(join(this.#root, path, `${resource}.pressure`))
      if (found !== undefined && found.waiting >= SHARE_MIN) shares[resource] = found
    }
    if (Object.keys(shares).length === 0) return
    const group = { path, shares }
    this.#groups.push(group)
    this.#waiting.push(group)
  }

  /** Lists the groups below the group that waits most; false if there is none. */
  #descend(): boolean {
    if (this.#waiting.length === 0) return false
    const most = this.#waiting.reduce((a, b) => (longestWait(b) > longestWait(a) ? b : a))
    this.#waiting.splice(this.#waiting.indexOf(most), 1)
    try {
      this.#folder = { path: most.path, entries: this.#open(most.path) }
    } catch {
      // The group has left meanwhile.
    }
    return true
  }

  #sharesOf(path: string): PressureShares | undefined {
    let descriptor = -1
    try {
      descriptor = fs.openSync(path, OPEN_FLAGS)
      const length = fs.readSync(descriptor, this.#buffer, 0, FILE_BYTES, 0)
      return parseShares(this.#buffer.toString('latin1', 0, length))
    } catch (error) {
      // A group that has left is no refusal; if the kernel measures nothing, every group refuses.
      if (this.#refusal === '') this.#refusal = kernelErrorCode(error)
      return undefined
    } finally {
      if (descriptor !== -1) fs.closeSync(descriptor)
    }
  }
}

function longestWait({ shares }: PressedGroup): number {
  return Math.max(...Object.values(shares).map(({ waiting }) => waiting))
}
