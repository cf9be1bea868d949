import type { IncidentsUnshown } from '@sonde/sdk/api'

/**
 * What a list has not, because it is not readable; undefined if there is nothing.
 * @param records Records of hints in the read part of the window.
 * @param files Files of events.
 */
export function unshownOf(records: number, files: number): IncidentsUnshown | undefined {
  if (records + files === 0) return undefined
  const ofHints = records === 0 ? [] : [records === 1 ? '1 record of a hint' : `${records} records of hints`]
  const ofEvents = files === 0 ? [] : [files === 1 ? '1 file of an event' : `${files} files of events`]
  const what = [...ofHints, ...ofEvents].join(' and ')
  const verb = records + files === 1 ? 'is' : 'are'
  return {
    count: records + files,
    reason: `${what} ${verb} not shown: damaged, or written by another version of Sonde.`,
  }
}
