import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { ask, metricsOf, numberOn } from '../../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import { type FaultLoop, inTurn } from '../loop.ts'

/** What can be read of a damaged file is carried over for 10 s, on a machine that does other things too. */
const WRITE_LIMIT_MS = 60_000

interface StoreState {
  readonly state: string
  readonly reason: string
  readonly ackedMs: number
}

/** Damages to a file that no process has open. Each answers a sentence about its damage. */
const DAMAGES: Readonly<Record<string, (file: string, random: Random) => void>> = {
  flip(file, random) {
    const bytes = readFileSync(file)
    const count = random.integer(1, 64)
    for (let i = 0; i < count && bytes.length > 0; i++) {
      const at = random.integer(0, bytes.length - 1)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(0, 7))
    }
    writeFileSync(file, bytes)
  },
  truncate(file, random) {
    truncateSync(file, random.integer(0, readFileSync(file).length))
  },
  blank(file, random) {
    const bytes = readFileSync(file)
    const from = random.integer(0, bytes.length)
    bytes.fill(0, from, Math.min(bytes.length, from + random.integer(1, 16_384)))
    writeFileSync(file, bytes)
  },
  replace(file, random) {
    writeFileSync(file, Buffer.from(Array.from({ length: random.integer(0, 5000) }, () => random.integer(0, 255))))
  },
}

/** Waits until what was reported after the start is on disk. */
async function writes(sonde: SondeProcess, after: string): Promise<StoreState> {
  const startedMs = Date.now()
  let store: StoreState | undefined
  return until('new samples on disk', WRITE_LIMIT_MS, async () => {
    store = (await ask<{ store: StoreState }>(sonde, '/api/v1/node')).store
    return store.state === 'writing' && store.ackedMs > startedMs && store
  }).catch((cause: unknown) => {
    throw new Error(`${after}: nothing new on disk, ${JSON.stringify(store)}`, { cause })
  })
}

/** The files of the store, with the files that it set aside. */
function filesOf(folder: string): string[] {
  const found = readdirSync(folder, { withFileTypes: true, recursive: true })
  const paths = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return paths.filter((path) => path.includes('store.db')).sort()
}

/** Damages the store's files between two runs. */
export const damage: FaultLoop = {
  name: 'damage',
  what: 'bytes of the store flipped, blanked, cut off or replaced between two runs: it starts, says what happened, answers, and writes on',
  testRounds: 4,
  async open() {
    const dir = temporaryDir()
    const args = ['up', '--data-dir', dir.path, '--log-level', 'error']
    let sonde = await startSonde(args)
    let told = 0
    return {
      async round(random) {
        await writes(sonde, 'before any damage')
        await sonde.stop(random.pick(['SIGKILL', 'SIGTERM'] as const))
        const file = random.pick(filesOf(dir.path))
        const kind = inTurn(random, Object.keys(DAMAGES))
        DAMAGES[kind]?.(file, random)
        sonde = await startSonde(args)
        const store = await writes(sonde, `${kind} of ${file}`)
        if (store.reason !== '') told++
        await until(`sonde_store_up of 1 after ${kind} of ${file}`, WRITE_LIMIT_MS, async () => {
          return numberOn(await metricsOf(sonde), 'sonde_store_up') === 1
        })
        const toMs = Date.now()
        const queries = [{ metric: 'host_load1', function: 'last' }]
        await ask(sonde, '/api/v1/query', { fromMs: toMs - 3_600_000, toMs, stepMs: 1000, queries }).catch((cause) => {
          throw new Error(`${kind} of ${file}: history is not told`, { cause })
        })
      },
      async close() {
        await sonde.stop('SIGKILL')
        dir.remove()
        return `${told} of the damages were noticed at the start`
      },
    }
  },
}
