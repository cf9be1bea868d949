import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AppsAnswer, PodsAnswer } from '@sonde/sdk/api'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { NvmlDouble } from '../doubles/nvml/nvml-double.ts'
import { RuncContainer } from '../runc.ts'
import { runSonde, startSonde, until } from '../sonde-process.ts'

const GIB = 2 ** 30
const FALLBACK = 'the same cases over a tree of files: packages/agent/src/sources/nvml/gpu-processes.test.ts'

test('real containers own the GPU of their processes, and cannot name another pod', needs('cc', 'runc'), async (t) => {
  const [trainer, notebook] = [randomUUID(), randomUUID()]
  const job = String(1_000_000 + process.pid)
  const started = [
    `/kubepods/burstable/pod${trainer}`,
    `/kubepods/besteffort/pod${notebook}`,
    `/slurm/uid_0/job_${job}`,
    '/docker',
  ].map((parent) => RuncContainer.start(t, parent))
  const refused = started.find((one) => typeof one === 'string')
  if (refused !== undefined) return t.skip(`runc refuses to run here (${refused}); ${FALLBACK}`)
  const containers = started as RuncContainer[]
  const [ofTrainer, ofNotebook] = containers as [RuncContainer, RuncContainer]
  // The notebook would like to be the trainer.
  ofNotebook.forge(`kubepods/burstable/pod${trainer}/${ofTrainer.id}`)

  const root = mkdtempSync(join(tmpdir(), 'sonde-owners-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'containers'))
  writeFileSync(join(root, `containers/trainer-0_ml_main-${ofTrainer.id}.log`), '')
  mkdirSync(join(root, `pods/lab_notebook-0_${notebook}/jupyter`), { recursive: true })
  const double = new NvmlDouble(t)
  const processes = containers.flatMap(({ pid }, at) =>
    Object.entries({ pid, memory: (at + 1) * GIB, sm: 10 * (at + 1) }).map(([name, value]) => [
      `gpu0.process${at}.${name}`,
      value,
    ]),
  )
  double.play({ gpus: 1, 'gpu0.processes': containers.length, ...Object.fromEntries(processes) })
  const config = join(root, 'sonde.yml')
  // The machine of a test may be a container itself.
  const source = `  - { type: nvml, log_folder: ${root}, process_owners: always }`
  writeFileSync(config, `native: { nvml_library: ${double.folder} }\ndata_sources:\n${source}\n`)
  const sonde = await startSonde(['up'], { env: { SONDE_CONFIG: config } })
  t.after(() => sonde.stop())

  const pods = await until('the owners of all processes', 60_000, async () => {
    const found = (await ask<PodsAnswer>(sonde, '/api/v1/pods')).pods
    return found.length === 4 && found.every(({ values }) => values['gpu-util'] !== null) && found
  })
  const shares = pods.map(({ namespace, name, values }) => [
    `${namespace}/${name}`,
    values['gpu-util'],
    (values['gpu-mem-used'] ?? 0) / GIB,
  ])
  assert.deepEqual(shares.sort(), [
    [`@docker/${containers[3]?.id.slice(0, 12)}`, 40, 4],
    [`@job/${job}`, 30, 3],
    ['lab/notebook-0', 20, 2],
    ['ml/trainer-0', 10, 1],
  ])
  const { apps } = await ask<AppsAnswer>(sonde, '/api/v1/apps')
  assert.deepEqual(
    apps
      .map(({ name }) => name)
      .filter((name) => name !== '')
      .sort(),
    ['docker', 'job'],
  )
  const { output } = await runSonde(['ps', '--url', sonde.address])
  assert.match(output, new RegExp(`@job +${job} +job .* 30\\.0% +3\\.0GiB`))
  assert.match(output, /ml +trainer-0 .* 10\.0% +1\.0GiB/)
})
