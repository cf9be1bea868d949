import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { CpuMarks } from './cpu-marks.ts'
import { type HostStat, parseStat } from './parse.ts'

/** Times of `cpu0`, in ticks in the order of the kernel. */
function timesOf(ticks: readonly number[]): HostStat['cpus'][number] {
  const [times] = parseStat(Buffer.from(`cpu0 ${[...ticks, ...new Array(10 - ticks.length).fill(0)].join(' ')}\n`)).cpus
  assert.ok(times)
  return times
}

test('no counter falls when time moves between idle and iowait, or when steal is taken back', () => {
  const random = new Random(SEED)
  const marks = new CpuMarks()
  let [user, system, idle, iowait, steal] = [2000, 1000, 40_000, 5000, 300]
  let before: HostStat['cpus'][number] | undefined
  for (let sweep = 0; sweep < 500; sweep++) {
    user += random.integer(0, 100)
    system += random.integer(0, 10)
    idle += random.integer(0, 50)
    iowait += random.integer(0, 50)
    steal += random.integer(0, 20)
    // The kernel counts a sleep as idle or iowait, depending on whether a task waits for a disk at the time of the
    // read.
    const moved = random.integer(-4000, 4000)
    const taken = random.integer(0, 200)
    const read = [user, 0, system, idle + moved, iowait - moved, 0, 0, steal - taken]
    const now = marks.raise(timesOf(read))
    marks.endSweep()
    for (const [name, value] of Object.entries(now))
      if (typeof value === 'number') assert.ok(value >= Number(before?.[name as keyof typeof now] ?? 0), name)
    before = now
  }
})

test('the times of a CPU that restarts are kept as they are, also after it was offline', () => {
  const marks = new CpuMarks()
  const sweep = (ticks: readonly number[]) => {
    const {
      user_seconds_total: user,
      idle_seconds_total: idle,
      iowait_seconds_total: wait,
    } = marks.raise(timesOf(ticks))
    marks.endSweep()
    return [user, idle, wait]
  }
  assert.deepEqual(sweep([2000, 0, 1000, 40_000, 5000]), [20, 400, 50])
  assert.deepEqual(sweep([2000, 0, 1000, 39_998, 4999]), [20, 400, 50])
  assert.deepEqual(sweep([2000, 0, 1000, 40_003, 5001]), [20, 400.03, 50.01])
  assert.deepEqual(sweep([5, 0, 5, 10, 0]), [0.05, 0.1, 0])
  assert.deepEqual(sweep([5, 0, 5, 20, 0]), [0.05, 0.2, 0])
  marks.endSweep()
  assert.deepEqual(sweep([5, 0, 5, 9, 0]), [0.05, 0.09, 0])
})
