import { dirname } from 'node:path'
import { defaultServiceDir, defaultTracebackDir, destinationsOf, isEventsName } from '@sonde/agent/config'
import { isStoreName } from '@sonde/console/config'
import { tightenFolder, within } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import type { Loaded } from '../config/load.ts'
import { storePath } from '../config/store-path.ts'

/** Longest delay of a start by a disk that hangs. Unit: milliseconds. */
const LIMIT_MS = 5000

/**
 * Removes the access of other users to data that an earlier version, or another umask, left open: history, events, the
 * key of the service, record files. Logs each folder once. No fault prevents a start.
 */
export async function tightenFolders({ config: { agent, store } }: Loaded, log: Logger): Promise<void> {
  const places = [
    [dirname(storePath(store)), isStoreName],
    [agent.service.dir ?? defaultServiceDir(), isStoreName],
    [agent.traceback?.dir ?? defaultTracebackDir(), isEventsName],
    ...destinationsOf(agent).flatMap(({ definition: { place, isOwnName }, options }) => {
      const folder = place?.(options)
      return folder === undefined || isOwnName === undefined ? [] : [[folder, isOwnName] as const]
    }),
  ] as const
  const work = async () => {
    for (const [folder, isOwnName] of places) {
      const said = await tightenFolder(folder, isOwnName)
      if (said !== '') log.warn(said)
    }
  }
  await within(LIMIT_MS, work())
}
