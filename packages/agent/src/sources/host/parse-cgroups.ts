import type { CgroupResource, PressedGroup } from './cgroup-search.ts'

/** Shares of the last 10 seconds, from 0 to 1. */
export interface PressureShares {
  /** At least one task waited. */
  readonly waiting: number
  /** All tasks waited; undefined where the kernel does not report it. */
  readonly stalled: number | undefined
}

/** A group below that waits at least so long, as a share, is what the group above waits for. */
const EXPLAINED_SHARE = 0.5
/** Control groups that are reported for each resource. */
const GROUPS_SHOWN = 5
/** Longer paths are cut. Unit: characters. */
const PATH_LIMIT = 256

/** Parses a pressure file of a control group; undefined if it has no share. */
export function parseShares(text: string): PressureShares | undefined {
  const waiting = shareIn(text, /^some avg10=(\d{1,3}\.\d{1,4}) /m)
  return waiting === undefined ? undefined : { waiting, stalled: shareIn(text, /^full avg10=(\d{1,3}\.\d{1,4}) /m) }
}

function shareIn(text: string, line: RegExp): number | undefined {
  const percent = line.exec(text)?.[1]
  return percent === undefined ? undefined : Math.min(1, Number(percent) / 100)
}

/** The groups that wait most for a resource. A group is left out if a group below it explains its wait. */
export function causesOf(groups: readonly PressedGroup[], resource: CgroupResource): readonly PressedGroup[] {
  const waitOf = ({ shares }: PressedGroup) => shares[resource]?.waiting ?? 0
  const waiting = groups.filter((group) => waitOf(group) > 0)
  const longestBelow = new Map<string, number>()
  for (const group of waiting) {
    const parent = group.path.slice(0, group.path.lastIndexOf('/'))
    longestBelow.set(parent, Math.max(longestBelow.get(parent) ?? 0, waitOf(group)))
  }
  return waiting
    .filter((group) => (longestBelow.get(group.path) ?? 0) < EXPLAINED_SHARE * waitOf(group))
    .toSorted((a, b) => waitOf(b) - waitOf(a) || (a.path < b.path ? -1 : 1))
    .slice(0, GROUPS_SHOWN)
}

/** A path as a label: users may give control groups any name. */
export function cgroupLabel(path: string): string {
  const plain = path.replace(/\p{C}/gu, '\ufffd')
  return plain.length > PATH_LIMIT ? `${plain.slice(0, PATH_LIMIT - 1)}…` : plain
}
