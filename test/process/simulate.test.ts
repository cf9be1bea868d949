import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EventAnswer, HintsAnswer, IncidentsAnswer } from '@sonde/sdk/api'
import { ask, metricsOf } from '../ask.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

test('--only-simulated runs a simulated node alone, which says that it is one, with its scenarios', async () => {
  const sonde = await startSonde([
    'agent',
    '--only-simulated',
    '--simulate=retransmission-storm,straggler@gpu-1:2:0',
    '--seed',
    '7',
  ])
  try {
    const { sources } = await ask<{ sources: { name: string }[] }>(sonde, '/api/v1/sources')
    assert.deepEqual(
      sources.map(({ name }) => name),
      ['simulator'],
    )
    const { simulated } = await ask<{ simulated: boolean }>(sonde, '/api/v1/node')
    assert.equal(simulated, true)
    const { seed, running } = await ask<{ seed: number; running: { name: string; device: string }[] }>(
      sonde,
      '/api/v1/simulator',
    )
    assert.equal(seed, 7)
    assert.deepEqual(
      running.map(({ name, device }) => `${name} ${device}`),
      ['retransmission-storm sim-nic-mlx5_3-1', 'straggler sim-gpu-1'],
    )
    const metrics = await metricsOf(sonde)
    assert.match(metrics, /^rdma_hw_packet_seq_err_total\{[^}]*simulated="true"/m)
  } finally {
    await sonde.stop()
  }
})

/** A configuration with a rule on pauses that the NIC sends, as it does in each step of the job. */
function pausesConfig(dir: string): string {
  const pauses = { name: 'pauses', data_id: '0x1140000500000300' }
  const isSent = { comparison_type: 'dt_gt', comparison_value: 0, delta_samples: 2000, deactivate_samples: 6000 }
  const file = { diag_sample_period_ns: 100_000, sample_history_depth: 1, 'data-ids': [pauses] }
  const rules = join(dir, 'rules.json')
  writeFileSync(rules, JSON.stringify({ ...file, rules: [{ ...pauses, ...isSent }] }))
  const config = join(dir, 'sonde.yaml')
  writeFileSync(config, `traceback:\n  rules: ${rules}\n`)
  return config
}

test('--simulate-past fills an empty history once, and its incidents are there', async (t) => {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const config = ['--config', pausesConfig(dir.path), '--data-dir', join(dir.path, 'data')]
  const args = ['up', '--only-simulated', '--simulate-class', 'small', ...config, '--log-level', 'info']
  const sonde = await startSonde([...args, '--simulate-past', '7m'])
  t.after(() => sonde.stop())
  await until('the past to be filled', 60_000, () => sonde.output().includes('is filled with the past'))
  const { startedMs } = await ask<{ startedMs: number }>(sonde, '/api/v1/node')
  const { incidents, unknown } = await ask<IncidentsAnswer>(
    sonde,
    `/api/v1/incidents?from=${startedMs - 400_000}&to=${startedMs - 60_000}`,
  )
  assert.deepEqual(unknown, [])
  assert.ok(incidents.length > 0)
  for (const { state, isSimulated, endMs = 0 } of incidents) {
    assert.deepEqual([state, isSimulated], ['ended', true])
    assert.ok(endMs < startedMs)
  }
  const events = incidents.filter(({ kind }) => kind === 'event')
  assert.ok(events.length > 0 && events.length <= 20, `${events.length} events`)
  const { lanes } = await ask<EventAnswer>(sonde, `/api/v1/incidents/${events[0]?.id}/lanes`)
  assert.ok(lanes.some(({ type }) => type === 'doca_diag_sample'))
  const { hints, ended } = await ask<HintsAnswer>(sonde, '/api/v1/hints')
  assert.deepEqual(hints, [], 'the node is healthy when it starts')
  assert.ok(ended.length > 0, 'hints of the past are among those of the last hour')
  await sonde.stop()
  const again = await startSonde([...args, '--simulate-past', '1m'])
  t.after(() => again.stop())
  assert.equal(again.output().includes('is filled with the past'), false)
})

test('--simulate adds the node beside the real sources, and shows as the origin of its values', async () => {
  const { code, output } = await runSonde(['config', '--simulate=straggler', '--simulate-class', 'small'])
  assert.equal(code, 0)
  assert.match(output, /type: netdev/)
  assert.match(output, /type: simulator +# --simulate/)
  assert.match(output, /scenarios: \[straggler\] +# --simulate/)
  assert.match(output, /node_class: small +# --simulate-class/)
})

test('the simulator of a file is changed, not doubled', async (t) => {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  writeFileSync(
    file,
    'data_sources:\n  - type: netdev\n  - type: simulator\n    name: lab\n    enabled: false\n    seed: 3\n',
  )
  const { code, output } = await runSonde(['config', '--config', file, '--simulate', '--seed', '9'])
  assert.equal(code, 0, output)
  assert.equal(output.match(/type: simulator/g)?.length, 1)
  assert.match(output, /name: lab/)
  assert.match(output, /enabled: true +# --simulate/)
  assert.match(output, /seed: 9 +# --seed/)
})

test('what is no scenario, no device or no severity ends with exit code 2 and says what is allowed', async () => {
  const complaintOf = async (...args: string[]) => {
    const { code, output } = await runSonde(['agent', '--listen', '127.0.0.1:0', ...args])
    assert.equal(code, 2, output)
    return output
  }
  assert.match(
    await complaintOf('--simulate=stragler'),
    /^sonde: --simulate: unknown scenario "stragler", did you mean "straggler"\?; allowed: healthy, /,
  )
  assert.match(
    await complaintOf('--simulate=straggler@gpu-9'),
    /^sonde: "gpu-9" is no device of hgx-h100; allowed: sim-gpu-0/,
  )
  assert.match(
    await complaintOf('--simulate=straggler@gpu-5,straggler@gpu-5'),
    /^sonde: straggler is set for sim-gpu-5 at that time already/,
  )
  assert.match(await complaintOf('--simulate=straggler:99'), /^sonde: severity is 99; allowed: 1\.05 to 3/)
  assert.match(
    await complaintOf('--simulate', '--simulate-class', 'hgx'),
    /^sonde: --simulate-class is "hgx"; allowed: one of hgx-h100/,
  )
  assert.match(await complaintOf('--simulate', '--seed', 'x'), /^sonde: --seed is "x"; allowed/)
  assert.match(
    await complaintOf('--seed', '1'),
    /^sonde: --seed: no simulator is asked for; allowed: together with --simulate/,
  )
})
