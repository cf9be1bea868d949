import { sep } from 'node:path'
import type { SourceFile } from './contents.ts'

/**
 * Files that this process is writing, of all its sinks: several sinks may share a root, and none may remove the open
 * files of another.
 */
const live = new Set<SourceFile>()

/** A file was begun. */
export function addLive(file: SourceFile): void {
  live.add(file)
}

/** A file was closed. */
export function removeLive(file: SourceFile): void {
  live.delete(file)
}

/** The files below a root that this process writes to. */
export function liveBelow(root: string): SourceFile[] {
  return [...live].filter(({ path }) => path.startsWith(root + sep))
}
