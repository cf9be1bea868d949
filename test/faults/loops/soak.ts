import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  counter,
  createIpc,
  createSource,
  defineType,
  type IpcSink,
  label,
  type Source,
  timestamp,
  wallNs,
} from '@sonde/sdk'
import { childrenOf, usedBy } from '../../../bench/idle/process.ts'
import { writeFabric, writeTree } from '../../../bench/idle/tree.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { type SondeProcess, startSonde, temporaryDir } from '../../sonde-process.ts'
import type { FaultLoop, FaultRun } from '../loop.ts'

const ROUND_MS = 1000
/** Before that, code is still compiled and rings still fill: the ring of recent records reaches back five minutes. */
const WARM_UP_ROUNDS = 600
/**
 * At the turn of an hour the store compacts it. What that takes for the first time the process keeps, so a slope starts
 * after it.
 */
const TURN_ROUNDS = 120
const HOUR_MS = 3_600_000
/** Below that many rounds after the warm-up a slope says nothing. */
const SLOPE_ROUNDS = 600
/** An hour of a steady process moves by less than its collector's whims. */
const GROWTH_LIMIT_MB_PER_HOUR = 12
const DESCRIPTOR_ROUNDS = 60
/** Sockets that are just being closed. */
const DESCRIPTOR_SLACK = 16
const APPLICATION_ROUNDS = 60
const APPLICATION_RECORDS = 100
const SCENARIOS = ['retransmission-storm', 'pcie-downtrain', 'link-flap', 'straggler', 'thermal-throttle']

const stepType = defineType('soak_step', 'Steps of an application', {
  time: timestamp(),
  worker: label('Worker'),
  steps_total: counter('u64', { help: 'Steps done' }),
})

interface Look {
  readonly hour: number
  readonly residentMb: number
  readonly descriptors: number
  readonly processes: number
}

/** Runs everything for as many seconds as there are rounds, and is asked all the while. */
export const soak: FaultLoop = {
  name: 'soak',
  what: 'a second a round of everything at once, scraped, asked, streamed and with scenarios that come and go: memory flat, no descriptor and no process left over',
  testRounds: 8,
  async open(): Promise<FaultRun> {
    const directory = temporaryDir()
    // Not this machine's own interfaces: other programs may bring some and take them away.
    const tree = writeTree(join(directory.path, 'node'))
    writeFabric(join(directory.path, 'node'))
    const counting = setInterval(() => tree.step(), ROUND_MS)
    const roots = [`--path.procfs=${tree.procfs}`, `--path.sysfs=${tree.sysfs}`]
    const socketsDir = join(directory.path, 'sockets')
    const sonde = await startSonde(['up', '--simulate', '--seed', '7', ...roots], {
      restarts: true,
      env: { SONDE_STORE_DIR: directory.path, SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir },
    })
    const application = new Application(socketsDir)
    const looks: Look[] = []
    return {
      async round(random) {
        const endMs = performance.now() + ROUND_MS
        await application.report()
        await useEverything(sonde.address, random)
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, endMs - performance.now())))
        looks.push(lookAt(sonde))
        checkDescriptors(looks)
      },
      async close() {
        clearInterval(counting)
        await application.leave()
        const end = await sonde.stop()
        directory.remove()
        assert.equal(end, 0, sonde.output())
        return checkMemory(looks)
      },
    }
  },
}

/** An application that reports over IPC, and is replaced by another every minute. */
class Application {
  readonly #socketsDir: string
  #rounds = 0
  #sink: IpcSink | undefined
  #source: Source | undefined

  constructor(socketsDir: string) {
    this.#socketsDir = socketsDir
  }

  /** Reports, and waits until it is written. */
  async report(): Promise<void> {
    if (this.#rounds++ % APPLICATION_ROUNDS === 0) await this.#replace()
    for (let worker = 0; worker < APPLICATION_RECORDS; worker++) {
      this.#source?.report(stepType, { time: wallNs(), worker: `worker${worker}`, steps_total: this.#rounds })
    }
    this.#source?.emit()
    await this.#sink?.flush()
  }

  async leave(): Promise<void> {
    await this.#source?.close()
    await this.#sink?.close()
  }

  async #replace(): Promise<void> {
    await this.leave()
    const sink = createIpc({ socketsDir: this.#socketsDir })
    this.#sink = sink
    this.#source = createSource({ id: `application${this.#rounds}`, emit: (batch) => sink.accept(batch) })
  }
}

async function useEverything(address: string, random: Random): Promise<void> {
  const accept = random.pick(['text/plain', 'application/openmetrics-text; version=1.0.0'])
  await read(`${address}/metrics`, { headers: { accept } })
  await read(`${address}/api/v1/${random.pick(['node', 'sources', 'types', 'devices', 'hints', 'simulator'])}`)
  const queries = [
    { metric: 'rdma_port_xmit_data_bytes_total', function: 'rate' },
    { metric: 'DCGM_FI_DEV_POWER_USAGE' },
  ]
  const toMs = Date.now()
  const form = { fromMs: toMs - random.integer(1, 300) * 1000, toMs, stepMs: 1000, queries }
  await read(`${address}/api/v1/query?q=${encodeURIComponent(JSON.stringify(form))}`)
  await listen(`${address}/api/v1/stream?q=${encodeURIComponent(JSON.stringify({ stepMs: 1000, queries }))}`)
  if (random.integer(0, 9) === 0) await startScenario(address, random.pick(SCENARIOS))
}

async function read(url: string, init: RequestInit = {}): Promise<void> {
  const answer = await fetch(url, init)
  assert.ok(answer.ok, `${url}: ${answer.status}`)
  await answer.arrayBuffer()
}

/** Takes the first message of a stream and leaves. */
async function listen(url: string): Promise<void> {
  const leave = new AbortController()
  const answer = await fetch(url, { signal: leave.signal })
  assert.equal(answer.status, 200)
  await answer.body?.getReader().read()
  leave.abort()
}

/** One that already runs is refused, which is part of the exercise. */
async function startScenario(address: string, name: string): Promise<void> {
  const answer = await fetch(`${address}/api/v1/simulator/scenarios`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, durationS: 20 }),
  })
  assert.ok(answer.status === 201 || answer.status === 409, `${name}: ${answer.status} ${await answer.text()}`)
}

function lookAt({ child }: SondeProcess): Look {
  const pids = [Number(child.pid), ...childrenOf(Number(child.pid))]
  const residentMb = pids.reduce((sum, pid) => sum + usedBy(pid).residentBytes / 1e6, 0)
  const descriptors = pids.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0)
  return { hour: Math.floor(Date.now() / HOUR_MS), residentMb, descriptors, processes: pids.length }
}

/** Descriptors of the kernel's files are kept, and opened in turns: after a minute all there ever will be are open. */
function checkDescriptors(looks: readonly Look[]): void {
  const first = looks.slice(0, DESCRIPTOR_ROUNDS)
  const last = looks.at(-1) as Look
  assert.ok(last.processes <= Math.max(...first.map(({ processes }) => processes)), `${last.processes} processes`)
  if (looks.length <= DESCRIPTOR_ROUNDS) return
  const bound = Math.max(...first.map(({ descriptors }) => descriptors)) + DESCRIPTOR_SLACK
  assert.ok(last.descriptors <= bound, `${last.descriptors} descriptors are open, ${bound} at most in the first minute`)
}

function checkMemory(looks: readonly Look[]): string {
  const last = looks.at(-1)
  if (last === undefined) return 'no round'
  const state = `${last.residentMb.toFixed(0)} MB, ${last.descriptors} descriptors, ${last.processes} processes at the end`
  const turn = looks.findIndex(({ hour }) => hour > (looks[0] as Look).hour)
  const steady = looks.slice(Math.max(WARM_UP_ROUNDS, turn + TURN_ROUNDS)).map(({ residentMb }) => residentMb)
  if (steady.length < SLOPE_ROUNDS) return `${state}; too short for a slope`
  const growth = slopeOf(steady) * 3600
  assert.ok(
    growth < GROWTH_LIMIT_MB_PER_HOUR,
    `memory grows by ${growth.toFixed(1)} MB an hour over ${steady.length} s; ${state}`,
  )
  return `memory moves by ${growth.toFixed(1)} MB an hour over ${steady.length} s; ${state}`
}

/** Least squares, per round. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  let over = 0
  let under = 0
  values.forEach((value, at) => {
    over += (at - middle) * (value - mean)
    under += (at - middle) ** 2
  })
  return over / under
}
