// How large the container image is, beside the package of node_exporter, and how soon an agent in it is ready.
import { readFileSync, statSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Cgroup } from '../../test/cgroup.ts'
import { startContained } from '../../test/container/container.ts'
import { readLayout } from '../../test/container/layout.ts'
import { type ContainerOptions, openRuntime, type Runtime } from '../../test/container/runtime.ts'
import { sharedImage } from '../../test/container/shared-image.ts'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'

const EXPORTER = '/usr/bin/prometheus-node-exporter'
/** Layers of the image, from the lowest. */
const LAYERS = ['libraries of Debian and roots of TLS', 'Node', 'command, page and SDK'] as const
const REST_MB_MAX = 60
const READY_S_MAX = 3
/** As the recipe for Kubernetes limits it, and without a limit of processor time. */
const STARTS: Readonly<Record<string, ContainerOptions>> = {
  'start to ready': { memoryBytes: 512 << 20 },
  'start to ready, half a core': { memoryBytes: 512 << 20, cores: 0.5 },
}

/** Builds the image and starts it again and again. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const layout = await sharedImage()
  const runtime = await openRuntime(layout)
  try {
    const figures = [...sizes(layout), ...(await starts(runtime, rounds))]
    return { figures, lines: [`Started by ${runtime.confinement}, the start of the container included.`] }
  } finally {
    await runtime.close()
  }
}

function sizes(layout: string): Figure[] {
  const layers = readLayout(layout).layers.map((path) => readFileSync(path))
  const plain = layers.map((layer) => gunzipSync(layer).length / 1e6)
  const [libraries = 0, , packages = 0] = plain
  const sent = layers.reduce((sum, { length }) => sum + length, 0) / 1e6
  const rest = libraries + packages
  return [
    ...LAYERS.map((name, index) => ({ name, value: plain[index] ?? 0, unit: 'MB' })),
    { name: 'beyond Node', value: rest, unit: 'MB', gate: atMost(rest, REST_MB_MAX) },
    { name: 'whole image, compressed', value: sent, unit: 'MB' },
    { name: 'program of node_exporter', value: statSync(EXPORTER).size / 1e6, unit: 'MB' },
  ]
}

async function starts(runtime: Runtime, rounds: number): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, options] of Object.entries(STARTS)) {
    const rows: Start[] = []
    for (let round = 0; round < rounds; round++) rows.push(await startOnce(runtime, options))
    const value = median(rows.map(({ seconds }) => seconds))
    figures.push({ name, value, unit: 's', gate: atMost(value, READY_S_MAX) })
    const processor = median(rows.map(({ processorSeconds }) => processorSeconds))
    figures.push({ name: `processor: ${name}`, value: processor, unit: 's' })
  }
  return figures
}

interface Start {
  readonly seconds: number
  /** Of the processes in the container, which does not depend on the load of the machine. */
  readonly processorSeconds: number
}

async function startOnce(runtime: Runtime, options: ContainerOptions): Promise<Start> {
  const ends: (() => unknown)[] = []
  const startedMs = performance.now()
  const agent = await startContained({ after: (end) => void ends.push(end) }, runtime, options)
  const seconds = (performance.now() - startedMs) / 1000
  const { processorSeconds = 0 } = Cgroup.ofProcess(await agent.pid())
  await agent.stop()
  for (const end of ends) await end()
  return { seconds, processorSeconds }
}
