import { createIpc, createSource, wallNs } from '@sonde/sdk'
import type { FarEnd } from './far-ends.ts'
import { RECORD_BYTES, recordType, SENT_AT, SERIAL_AT } from './record.ts'

/** Records a second. */
export const RATE = 100_000
const DURATION_MS = 3500
/** Connecting and compiling is over by then. */
const WARM_UP_MS = 500
const TICK_MS = 2
/** Ticks between two flushes that are timed. */
const FLUSH_EVERY = 10

/** How an application fared that reports at a steady rate. */
export interface Steady {
  /** Of every record, from its report until the stub counted it. Unit: milliseconds. */
  readonly latenciesMs: readonly number[]
  /** From a flush until everything before it was acknowledged. Unit: milliseconds. */
  readonly acksMs: readonly number[]
  /** Longest turn of the event loop, and the processor time of the one that took most. */
  readonly turnMsMax: number
  readonly turnCpuMsMax: number
}

/** Reports at the rate to another process. Without a process the records are discarded. */
export async function steady(farEnd: FarEnd | undefined): Promise<Steady> {
  const sink = farEnd && createIpc({ socketsDir: farEnd.socketsDir })
  const source = createSource({ id: 'bench', emit: (batch) => sink?.accept(batch) })
  const bytes = Buffer.alloc(RATE * RECORD_BYTES)
  const turns = watchTurns()
  const acksMs: number[] = []
  let flushes = 0
  if (farEnd !== undefined) process.kill(farEnd.pid, 'SIGCONT')
  try {
    const records = await reportSteadily((from, count) => {
      const timeNs = wallNs()
      for (let i = 0, at = 0; i < count; i++, at += RECORD_BYTES) {
        bytes.writeBigUInt64LE(timeNs, at)
        bytes.writeUInt32LE(from + i, at + SERIAL_AT)
        bytes.writeBigUInt64LE(process.hrtime.bigint(), at + SENT_AT)
      }
      source.report(recordType, bytes.subarray(0, count * RECORD_BYTES), count)
      source.emit()
      if (sink === undefined || ++flushes % FLUSH_EVERY !== 0) return
      const flushedMs = performance.now()
      void sink.flush().then(() => acksMs.push(performance.now() - flushedMs))
    })
    const { turnMsMax, turnCpuMsMax } = turns.stop()
    await sink?.close()
    const latenciesMs = (await farEnd?.check(records)) ?? []
    return { latenciesMs: latenciesMs.slice((RATE * WARM_UP_MS) / 1000), acksMs, turnMsMax, turnCpuMsMax }
  } finally {
    turns.stop()
    if (farEnd !== undefined) process.kill(farEnd.pid, 'SIGSTOP')
  }
}

/** Gives how many were reported. A late tick reports all records that are due. */
async function reportSteadily(report: (from: number, count: number) => void): Promise<number> {
  const startMs = performance.now()
  let reported = 0
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const passedMs = performance.now() - startMs
      const due = Math.floor((passedMs * RATE) / 1000)
      if (due > reported) report(reported, Math.min(due - reported, RATE))
      reported = Math.max(reported, Math.min(due, reported + RATE))
      if (passedMs < DURATION_MS) return
      clearInterval(timer)
      resolve()
    }, TICK_MS)
  })
  return reported
}

/** Measures each turn of the loop: it asks for the next one at once, so that no turn waits. */
function watchTurns(): { stop(): { turnMsMax: number; turnCpuMsMax: number } } {
  const startMs = performance.now()
  let lastMs = startMs
  let lastCpu = cpuMs()
  let [turnMsMax, turnCpuMsMax] = [0, 0]
  let isWatching = true
  const turn = () => {
    const [nowMs, nowCpu] = [performance.now(), cpuMs()]
    if (nowMs - startMs > WARM_UP_MS) {
      turnMsMax = Math.max(turnMsMax, nowMs - lastMs)
      turnCpuMsMax = Math.max(turnCpuMsMax, nowCpu - lastCpu)
    }
    lastMs = nowMs
    lastCpu = nowCpu
    if (isWatching) setImmediate(turn)
  }
  setImmediate(turn)
  return {
    stop() {
      isWatching = false
      return { turnMsMax, turnCpuMsMax }
    },
  }
}

/** Processor time of this thread. Unit: milliseconds. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
