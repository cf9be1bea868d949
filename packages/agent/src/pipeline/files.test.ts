import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readFiles, temporaryFolder } from '../../../sdk/test/files-rig.ts'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'

test('where export.files is enabled, everything that sources report is in files, and /metrics tells how they fare', async (t) => {
  const root = temporaryFolder(t)
  const { agent, address } = await serveAgent(t, { export: { files: { data_root: root } } })
  const metrics = async () => (await fetch(`${address}/metrics`, { headers: { connection: 'close' } })).text()
  await until('the sink is told of', async () => /^sonde_sink_out_total\{sink="files"\} [1-9]/m.test(await metrics()))
  await agent.close()
  const files = readFiles(root)
  assert.deepEqual([...new Set(files.map(({ source }) => source?.id))].sort(), ['self', 'steady'])
  for (const { source, end } of files)
    assert.deepEqual([end.state, source?.schema, source?.version], ['ended', 'sonde', 'test'])
  const samples = files.flatMap(({ batches }) => batches.filter(({ type }) => type.name === 'steady'))
  const counted = samples.flatMap(({ records }) => records.map(({ samples_total }) => Number(samples_total)))
  const last = Math.max(...counted)
  // Two devices, each sample once.
  assert.deepEqual(
    counted.sort((a, b) => a - b),
    Array.from({ length: last * 2 }, (_, i) => 1 + (i >> 1)),
  )
})

test('where no file can be made, /metrics says that the sink is not up', async (t) => {
  const taken = join(temporaryFolder(t), 'taken')
  writeFileSync(taken, 'no folder')
  const { address } = await serveAgent(t, { export: { files: { data_root: taken } } })
  const metrics = async () => (await fetch(`${address}/metrics`, { headers: { connection: 'close' } })).text()
  await until('it is told', async () => /^sonde_sink_up\{sink="files"\} 0/m.test(await metrics()))
  const told = await metrics()
  assert.match(told, /^sonde_sink_in_total\{sink="prometheus"\} \d/m)
  assert.doesNotMatch(told, /^sonde_sink_up\{sink="prometheus"\}/m, 'one that does not say is not said to fail')
})
