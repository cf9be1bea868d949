import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GpuFacts, gpuHops } from './gpu-hops.ts'

const READER = { exporter: 'helm', program: 'agent', backend: '' } as const

async function exporterOf(readers: GpuFacts['readers']) {
  const origin = { scrapers: () => [] } as unknown as GpuFacts['origin']
  const pods = { pods: [] } as unknown as GpuFacts['pods']
  return (await gpuHops({ origin, reader: READER, pods, readers })).find(({ name }) => name === 'Exporter')
}

test('an exporter is missing only where nothing else reads the GPUs', async () => {
  const own = await exporterOf([{ name: 'nvml', state: 'reading', reason: '8 GPUs' }])
  assert.equal(own?.state, 'off')
  assert.match(own?.finding ?? '', /source nvml reads the GPUs/)
  const failing = [{ name: 'nvml', state: 'failing', reason: 'no driver' }] as const
  for (const readers of [failing, [], undefined]) assert.equal((await exporterOf(readers))?.state, 'broken')
})
