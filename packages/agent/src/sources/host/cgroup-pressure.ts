import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FieldAbsences } from '../field-absences.ts'
import { kernelErrorCode } from '../kernel-file.ts'
import { cgroupOwner } from '../processes/cgroup-owner.ts'
import type { PodNames } from '../processes/pod-names.ts'
import { CGROUP_RESOURCES, type CgroupResource, CgroupSearch, type CgroupsFound } from './cgroup-search.ts'
import { hostCgroupPressureType, hostCgroupsType } from './cgroup-type.ts'
import { causesOf, cgroupLabel } from './parse-cgroups.ts'
import type { HostPart, HostPartDefinition } from './part.ts'
import type { HostReader } from './reader.ts'

/** The kernel's shares are those of ten seconds. Unit: milliseconds. */
const EVERY_MS = 10_000
/** Time that a sweep searches at most. Unit: milliseconds. */
const TURN_MS = 4
/** New control groups in an hour that become series. Policy: further ones are counted as `cgroup_limit`. */
const NEW_LIMIT = 120
const HOUR_MS = 3_600_000

/** A series that is reported until the next search ends. */
interface CauseRow {
  readonly resource: CgroupResource
  readonly cgroup: string
  readonly owner: string
  readonly waiting_ratio: number
  readonly stalled_ratio?: number
}

/** The control groups behind the pressure of the host. */
class CgroupPressure implements HostPart {
  readonly #reader: HostReader
  readonly #names: PodNames
  readonly #root: string
  readonly #absences: readonly FieldAbsences[]
  readonly #series = new Map<string, FieldAbsences>()
  #rows: readonly CauseRow[] = []
  #found: CgroupsFound | undefined
  #search: CgroupSearch | undefined
  #nextMs = 0
  #newLeft = NEW_LIMIT
  #hourMs = performance.now()

  constructor(reader: HostReader, names: PodNames) {
    this.#reader = reader
    this.#names = names
    this.#root = join(reader.context.paths.sysfs, 'fs', 'cgroup')
    this.#absences = [reader.absences(hostCgroupPressureType), reader.absences(hostCgroupsType)]
  }

  sample(time: bigint): boolean {
    this.#look()
    if (this.#found === undefined) return false
    const { read, skipped } = this.#found
    const { source } = this.#reader.context
    source.report(hostCgroupsType, { time, groups_read: read, groups_skipped: skipped })
    for (const row of this.#rows) {
      this.#series.get(keyOf(row))?.tell({ ...row }, 'the kernel does not report it')
      source.report(hostCgroupPressureType, { time, ...row })
    }
    return true
  }

  close(): void {
    this.#search?.close()
    this.#search = undefined
  }

  #look(): void {
    const nowMs = performance.now()
    if (this.#search === undefined) {
      if (nowMs < this.#nextMs) return
      this.#nextMs = nowMs + EVERY_MS
      this.#search = this.#begin()
    }
    const found = this.#search?.step(nowMs + TURN_MS)
    if (found === undefined) return
    this.#search = undefined
    this.#settle(found)
  }

  #begin(): CgroupSearch | undefined {
    const reason = refusalAt(this.#root)
    if (reason !== undefined) {
      this.#absent('unsupported', reason)
      return undefined
    }
    try {
      return new CgroupSearch(this.#root)
    } catch (error) {
      this.#absent('failed', `${this.#root} cannot be listed: ${kernelErrorCode(error)}`)
      return undefined
    }
  }

  #absent(code: 'unsupported' | 'failed', reason: string): void {
    this.#leave(new Set())
    this.#rows = []
    this.#found = undefined
    for (const absences of this.#absences) absences.absent('', code, reason)
  }

  #settle(found: CgroupsFound): void {
    if (found.groups.length === 0 && found.refusal === 'EOPNOTSUPP') {
      this.#absent('unsupported', 'the kernel was started without pressure stall information; psi=1 turns it on')
      return
    }
    for (const absences of this.#absences) absences.present('')
    this.#found = found
    const rows = new Map<string, CauseRow>()
    for (const resource of CGROUP_RESOURCES)
      for (const { path, shares } of causesOf(found.groups, resource)) {
        const { waiting = 0, stalled } = shares[resource] ?? {}
        const owner = this.#ownerOf(path)
        const known = { resource, cgroup: cgroupLabel(path), owner, waiting_ratio: waiting }
        rows.set(keyOf(known), stalled === undefined ? known : { ...known, stalled_ratio: stalled })
      }
    this.#leave(new Set(rows.keys()))
    this.#rows = [...rows].filter(([key, row]) => this.#isTaken(key, row)).map(([, row]) => row)
  }

  #isTaken(key: string, { resource, cgroup, owner }: CauseRow): boolean {
    if (this.#series.has(key)) return true
    const nowMs = performance.now()
    if (nowMs - this.#hourMs > HOUR_MS) {
      this.#hourMs = nowMs
      this.#newLeft = NEW_LIMIT
    }
    if (this.#newLeft === 0) {
      this.#reader.context.dropped('cgroup_limit', 1)
      return false
    }
    this.#newLeft--
    this.#series.set(key, this.#reader.absences(hostCgroupPressureType, { resource, cgroup, owner }))
    return true
  }

  /** Reports the series of groups that left the list as gone. */
  #leave(kept: ReadonlySet<string>): void {
    for (const { resource, cgroup, owner } of this.#rows) {
      const key = keyOf({ resource, cgroup, owner })
      if (kept.has(key) || !this.#series.delete(key)) continue
      const reason = 'it is no longer among the control groups that wait most'
      this.#reader.context.absences.gone(hostCgroupPressureType, { resource, cgroup, owner }, reason)
    }
  }

  #ownerOf(path: string): string {
    const owner = cgroupOwner(`0::${path}`)
    if (owner === undefined) return ''
    const { kind, id, container } = owner
    if (kind !== 'pod') return cgroupLabel(`${kind} ${id}`.trim())
    const named = this.#names.find(id, container)
    // The next search has the name.
    if (named === undefined) void this.#names.refresh()
    if (named === undefined) return `pod ${id}`
    return `pod ${named.namespace}/${named.pod}${named.container && ` ${named.container}`}`
  }
}

/** Why the hierarchy has no pressure; undefined if it may have some. */
function refusalAt(root: string): string | undefined {
  if (!existsSync(join(root, 'cgroup.controllers')))
    return existsSync(root)
      ? `${root} has control groups of version 1, which have no pressure`
      : `${root} is not there: control groups are not mounted`
  // Only the root of the node lacks this file.
  return existsSync(join(root, 'cgroup.type'))
    ? `${root} shows only the control group of Sonde: mount that of the node, and give it with --path.sysfs`
    : undefined
}

function keyOf({ resource, cgroup, owner }: Pick<CauseRow, 'resource' | 'cgroup' | 'owner'>): string {
  return `${resource} ${cgroup} ${owner}`
}

/** The control groups behind the pressure of the host. */
export const cgroupPressure: HostPartDefinition = {
  types: [hostCgroupPressureType, hostCgroupsType],
  create: (reader, _options, names) => new CgroupPressure(reader, names),
}
