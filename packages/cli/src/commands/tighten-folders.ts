import { dirname } from 'node:path'
import { defaultServiceDir, defaultTracebackDir, destinationsOf, isEventsName } from '@sonde/agent/config'
import { isStoreName } from '@sonde/console/config'
import { tightenFolder, within } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import type { Loaded } from '../config/load.ts'
import { storePath } from '../config/store-path.ts'

/** A disk that hangs does not hold up a start for longer. Unit: milliseconds. */
const LIMIT_MS = 5000

/**
 * Takes the rights of other users from what an earlier version, or another umask, left open to them: history, events,
 * the key of the service, files of records. Each folder is a line in the log, once. No fault prevents a start.
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
