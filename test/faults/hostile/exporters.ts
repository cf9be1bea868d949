import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import type { PodsAnswer } from '@sonde/sdk/api'
import {
  nodeBody,
  type ServedExporter,
  serveExporter,
  withBody,
} from '../../../packages/agent/src/sources/scraping/test-exporter.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { ask } from '../../ask.ts'
import { until } from '../../sonde-process.ts'
import type { Attack } from './attacker.ts'

/** Time between two scrapes of an exporter. Unit: milliseconds. */
const INTERVAL_MS = 1000
/** Processor time that one answer may take. Unit: milliseconds. */
const MAX_CPU_MS = 200
/** A hostile exporter that is not asked within this rests, or is spared. Unit: milliseconds. */
const SCRAPE_LIMIT_MS = 1500
/** Values of the honest exporter that are older do not count as there. Unit: milliseconds. */
const LATE_MS = 4500
/** Scrapes that the honest exporter may miss without a loss of its claims. */
const MISSES_MAX = 3
const HONEST = { host: 'honest', namespace: 'inference', pod: 'llama-honest', util: 97 }

interface Device {
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
}

/** An honest exporter of two GPUs, and three that mean harm. */
export class Exporters {
  readonly #honest: ServedExporter
  readonly #hostile: readonly ServedExporter[]
  #missesLeft = 0
  #hasMissed = false
  #before: readonly Device[] = []

  private constructor(honest: ServedExporter, hostile: readonly ServedExporter[]) {
    this.#honest = honest
    this.#hostile = hostile
    honest.answer = (request, response) => {
      if (this.#missesLeft > 0) {
        this.#missesLeft--
        response.writeHead(500).end()
        return
      }
      this.#hasMissed = false
      const body = nodeBody(HONEST.host, HONEST.pod)
      withBody(body.replace(/^(DCGM_FI_DEV_GPU_UTIL\{.*\}) .*$/gm, `$1 ${HONEST.util}`))(request, response)
    }
  }

  static async open(): Promise<Exporters> {
    const served = await Promise.all(Array.from({ length: 4 }, () => serveExporter('# EOF\n')))
    return new Exporters(served[0] as ServedExporter, served.slice(1))
  }

  /** The data source of the configuration. */
  get source(): object {
    const addresses = [this.#honest, ...this.#hostile].map(({ address }) => address)
    return {
      type: 'dcgm_exporter',
      interval_ms: INTERVAL_MS,
      timeout_ms: 20 * INTERVAL_MS,
      collect_interval_ms: INTERVAL_MS,
      max_cpu_ms: MAX_CPU_MS,
      addresses,
    }
  }

  /** A hostile exporter answers so from now on. Waits for the next scrape of it. */
  async answer(random: Random, answer: RequestListener): Promise<void> {
    const exporter = random.pick(this.#hostile)
    exporter.answer = answer
    const { requests } = exporter
    await until('a scrape', SCRAPE_LIMIT_MS, () => exporter.requests > requests).catch(() => undefined)
  }

  /** The honest exporter misses a few scrapes; it answers before it misses others. */
  miss(random: Random): void {
    if (this.#hasMissed) return
    this.#hasMissed = true
    this.#missesLeft = random.integer(1, MISSES_MAX)
  }

  /** Remembers the devices of the honest exporter, which must stay. */
  async begin(address: string, limitMs: number): Promise<void> {
    await until('the honest pod', limitMs, () => this.#isFresh(address))
    this.#before = await this.#devices(address)
    assert.ok(this.#before.length > 1, `${this.#before.length} GPUs of the honest exporter`)
  }

  /** Devices and pods of the honest exporter are there, true and recent; nobody has an impossible value. */
  async check(address: string, limitMs: number): Promise<void> {
    await until('recent values of the honest pod', limitMs, () => this.#isFresh(address))
    assert.deepEqual(await this.#devices(address), this.#before, 'devices of the honest exporter')
  }

  close(): void {
    for (const exporter of [this.#honest, ...this.#hostile]) exporter.close()
  }

  async #isFresh(address: string): Promise<boolean> {
    const { pods } = await ask<PodsAnswer>({ address }, '/api/v1/pods')
    for (const { name, values } of pods) {
      const util = values['gpu-util'] ?? 0
      assert.ok(util >= 0 && util <= 100, `pod ${name} uses ${util} % of its GPU`)
    }
    const pod = pods.find(({ namespace, name }) => namespace === HONEST.namespace && name === HONEST.pod)
    if (pod?.values['gpu-util'] === undefined || (pod.ageMs ?? LATE_MS) >= LATE_MS) return false
    assert.deepEqual([pod.app, pod.gpus, pod.values['gpu-util']], ['llama', 1, HONEST.util], 'the honest pod')
    return true
  }

  async #devices(address: string): Promise<readonly Device[]> {
    const { devices } = await ask<{ devices: readonly Device[] }>({ address }, '/api/v1/devices')
    return devices
      .filter(({ labels }) => labels.Hostname === HONEST.host)
      .map(({ id, labels }) => ({ id, labels }))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }
}

/** Lines of GPUs, of a name each or all of one. */
function lines(count: number, nameOf: (at: number) => string): string {
  return Array.from(
    { length: count },
    (_, at) => `DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="${nameOf(at)}",Hostname="crowd"} 5\n`,
  ).join('')
}

function sampleOf(metric: string, labels: Readonly<Record<string, string>>, value: string): string {
  const written = Object.entries(labels).map(([name, text]) => `${name}="${text}"`)
  return `${metric}{${written.join(',')}} ${value}\n`
}

/** Keys by which GPUs of the honest exporter are told apart. */
const KEYS = [
  ['UUID', `GPU-${HONEST.host}-`],
  ['Hostname', HONEST.host],
  ['gpu', '0'],
  ['pci_bus_id', '00000000:1B:00.0'],
] as const

/** What an exporter can do to another. */
export const EXPORTER_ATTACKS: Readonly<Record<string, Attack>> = {
  /** Work just below and just above the budget, once. */
  async costs({ exporters, random }) {
    const isOfOne = random.chance(0.5)
    let body = lines(random.integer(20_000, 120_000), (at) => (isOfOne ? 'many' : `many-${at}`))
    await exporters.answer(random, (request, response) => {
      withBody(body)(request, response)
      body = '# EOF\n'
    })
  },
  /** Some keys of the honest GPU, and its pod, also while the honest exporter misses scrapes. */
  async forges({ exporters, random }) {
    const own = { UUID: 'GPU-forger', Hostname: 'forger', gpu: '7', pci_bus_id: '00000000:E1:00.0' }
    const [uuid = ''] = /GPU-honest-[^"]+/.exec(nodeBody(HONEST.host, HONEST.pod)) ?? []
    const taken = KEYS.filter(() => random.chance(0.5)).map(([key, text]) => [key, key === 'UUID' ? uuid : text])
    const pod = random.pick([HONEST.pod, 'forger-0'])
    const labels = {
      ...own,
      ...Object.fromEntries(taken),
      namespace: random.pick([HONEST.namespace, 'forged']),
      pod,
      container: 'c',
      app: 'llama',
    }
    const body = sampleOf('DCGM_FI_DEV_GPU_UTIL', labels, '1') + sampleOf('DCGM_FI_DEV_GPU_TEMP', labels, '5')
    if (random.chance(0.5)) exporters.miss(random)
    await exporters.answer(random, withBody(body))
  },
  /** All that the honest exporter tells, with other values, while it may miss scrapes. */
  async poses({ exporters, random }) {
    if (random.chance(0.5)) exporters.miss(random)
    let scrapes = 0
    const isInTurn = random.chance(0.5)
    await exporters.answer(random, (request, response) => {
      const host = isInTurn && scrapes++ % 2 === 1 ? 'poser' : HONEST.host
      const body = nodeBody(host, HONEST.pod).replace(/^(DCGM_FI_DEV_GPU_UTIL\{.*\}) .*$/gm, '$1 1')
      withBody(body)(request, response)
    })
  },
  /** Values that no hardware can have. */
  async impossible({ exporters, random }) {
    const value = () => random.pick(['187', '-1', '4294967295', '1e300', 'NaN', '+Inf', '-0.5', '3.71', '-274'])
    const labels = { UUID: 'GPU-liar', Hostname: 'liar', gpu: '0', namespace: 'liar', pod: 'liar-0', container: 'c' }
    const metrics = ['DEV_GPU_UTIL', 'DEV_POWER_USAGE', 'DEV_GPU_TEMP', 'DEV_FB_USED', 'PROF_GR_ENGINE_ACTIVE']
    const body = metrics.map((metric) => sampleOf(`DCGM_FI_${metric}`, labels, value())).join('')
    await exporters.answer(random, withBody(body))
  },
  /** Bodies cut at any byte, of another length than they say, or without the end that OpenMetrics has. */
  async cut({ exporters, random }) {
    const body = Buffer.from(nodeBody('cut', 'cut-0'))
    const at = random.integer(0, body.length - 1)
    const more = random.integer(1, 1000)
    const answers: readonly RequestListener[] = [
      withBody(body.subarray(0, at)),
      (_, response) => {
        response.writeHead(200, { 'content-length': body.length + more })
        response.write(body, () => response.destroy())
      },
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/openmetrics-text; version=1.0.0' }).end(body),
      (_, response) => void response.destroy(),
    ]
    await exporters.answer(random, random.pick(answers))
  },
}
