import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { usedBy } from '../../../bench/idle/process.ts'
import { devicesOf, readDouble } from '../../../packages/agent/test/doca-agent.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { until } from '../../sonde-process.ts'
import { type FaultLoop, type FaultRun, inTurn } from '../loop.ts'

const DEVICES = 3
const NAMES = Object.keys(devicesOf(DEVICES))
const READ = 'doca_telemetry_adp_retx_read_hist_bins'
const CALLS = [
  READ,
  'doca_dev_open',
  'doca_telemetry_adp_retx_create',
  'doca_telemetry_adp_retx_stop',
  'doca_dev_close',
]
const LIMIT_MS = 60_000
/** Rounds in which a child takes all the memory and descriptors that it ever needs. */
const WARM_UP_ROUNDS = 20
const GROWTH_LIMIT_MB = 24
/** Descriptors that are just being closed. */
const DESCRIPTOR_SLACK = 4

type Misdeed = 'leave' | 'leave while a call hangs' | 'hang' | 'fail' | 'crash' | 'kill'
const MISDEEDS: readonly Misdeed[] = ['leave', 'leave while a call hangs', 'hang', 'fail']
/** Lives of a child are long enough to see what it leaves over. */
const LIFE_ROUNDS = 40

/** Takes a device of the DOCA libraries away, lets calls hang and fail, and crashes the child that makes them. */
export const doca: FaultLoop = {
  name: 'doca',
  what: 'a DOCA device leaves and returns, calls of it hang, fail or crash, or the child is killed: the others are read, all are read again, and no context, device, list, descriptor or memory is left over',
  testRounds: 8,
  async open(): Promise<FaultRun> {
    const ends: (() => unknown)[] = []
    const started = await readDouble({ after: (end) => void ends.unshift(end as () => unknown) })
    const { double, read, hurry, child, told } = started
    await read(...NAMES)
    await hurry()
    const looks = new Map<number, Look[]>()
    return {
      async round(random) {
        const pid = child()
        const call = random.pick(CALLS)
        const misdeed = misdeedOf(random)
        await commit(misdeed, call, started)
        double.play(devicesOf(DEVICES))
        await read(...NAMES)
        if (misdeed === 'crash' || misdeed === 'kill') await until('another child', LIMIT_MS, () => child() !== pid)
        await until('nothing is left over', LIMIT_MS, () => isBare(double.stats().get(child())))
        looks.set(child(), [...(looks.get(child()) ?? []), lookAt(child())])
      },
      async close() {
        const { restarts } = await told()
        for (const end of ends) await end()
        const growthsMb = [...looks.values()].map(checkGrowth)
        return `${restarts} children replaced; the memory of one grew by ${Math.max(...growthsMb).toFixed(1)} MB at most`
      },
    }
  },
}

function misdeedOf(random: Random): Misdeed {
  const round = random.seed % LIFE_ROUNDS
  return round === 5 ? 'crash' : round === 6 ? 'kill' : inTurn(random, MISDEEDS)
}

type Started = Awaited<ReturnType<typeof readDouble>>

/** Does it to the second device, and waits until it shows; the others are read all the while. */
async function commit(misdeed: Misdeed, call: string, { double, read, child, told }: Started): Promise<void> {
  const { mlx5_1: _, ...others } = devicesOf(DEVICES)
  const rest = Object.keys(others)
  if (misdeed === 'kill') {
    process.kill(child(), 'SIGKILL')
  } else if (misdeed === 'crash') {
    const before = child()
    double.play(devicesOf(DEVICES, { faults: [`segv ${READ}`] }))
    await until('it crashed', LIMIT_MS, () => child() > 0 && child() !== before)
  } else if (misdeed === 'leave') {
    double.play(others)
    await read(...rest)
  } else if (misdeed === 'leave while a call hangs') {
    // Only a device that leaves makes these calls.
    const closing = /stop|close/.test(call) ? call : 'doca_dev_close'
    double.play(others, [`hang ${closing}`])
    await read(...rest)
    double.play(devicesOf(DEVICES, { faults: [`hang ${closing}`] }))
    await read(...rest)
  } else if (misdeed === 'hang') {
    double.play(devicesOf(DEVICES, { faults: [`hang ${READ}`] }))
    await until('it is stuck', LIMIT_MS, async () => (await told()).stuck.some(({ device }) => device === 'mlx5_1'))
    await read(...rest)
  } else {
    double.play(devicesOf(DEVICES, { faults: [`error ${READ} DOCA_ERROR_DRIVER`] }))
    await read(...rest)
  }
}

/** Whether the library holds what three open devices need, and nothing more. */
function isBare(stats: ReadonlyMap<string, number> | undefined): boolean {
  return stats?.get('opens') === DEVICES && stats.get('contexts') === DEVICES && stats.get('lists') === 0
}

interface Look {
  readonly residentMb: number
  readonly descriptors: number
}

function lookAt(pid: number): Look {
  return { residentMb: usedBy(pid).residentBytes / 1e6, descriptors: readdirSync(`/proc/${pid}/fd`).length }
}

/** Of one child: what it took when it was warm is all that it takes. Its growth since. Unit: megabytes. */
function checkGrowth(looks: readonly Look[]): number {
  const first = looks[WARM_UP_ROUNDS]
  const last = looks.at(-1)
  if (first === undefined || last === undefined) return 0
  assert.ok(last.descriptors <= first.descriptors + DESCRIPTOR_SLACK, `${last.descriptors} descriptors`)
  const growthMb = last.residentMb - first.residentMb
  assert.ok(growthMb < GROWTH_LIMIT_MB, `memory grew by ${growthMb.toFixed(1)} MB in ${looks.length} rounds`)
  return growthMb
}
