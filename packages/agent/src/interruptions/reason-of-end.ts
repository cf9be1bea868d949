import { countOf } from '@sonde/sdk/internal'
import type { LifeNote } from './life-note.ts'

const BYTES_PER_MEBIBYTE = 2 ** 20

/** Explains the end of a Sonde that did not stop, by its last note and the state of the kernel now. */
export function reasonOfEnd(note: LifeNote, now: Pick<LifeNote, 'bootId' | 'oomKills'>): string {
  if (note.bootId !== now.bootId) return 'The node restarted while Sonde ran.'
  if (note.isStopping) return 'Sonde was killed because it took too long to stop.'
  const kills = note.oomKills === null || now.oomKills === null ? 0 : now.oomKills - note.oomKills
  if (kills <= 0) return 'Sonde ended without stopping: it was killed, or it crashed.'
  const limit = note.limitBytes > 0 ? ` of its limit of ${mebibytes(note.limitBytes)}` : ''
  return (
    `Sonde ended without stopping. Memory was full: the kernel ended ${countOf(kills, 'process', 'processes')} of the ` +
    `node meanwhile. Sonde used ${mebibytes(note.residentBytes)}${limit} before.`
  )
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / BYTES_PER_MEBIBYTE)} MiB`
}
