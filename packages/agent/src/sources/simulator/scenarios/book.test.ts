import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_CLASSES } from '../classes/classes.ts'
import type { NicPlace } from '../classes/node-class.ts'
import type { Effects } from '../effects.ts'
import { NIC_COUNT, NIC_QUANTITIES } from '../model/quantities.ts'
import { SchedulePosition } from '../model/schedule-position.ts'
import { nicNumbers } from '../model/values.ts'
import { RUNNING_LIMIT } from '../names.ts'
import { Simulation } from '../simulation.ts'
import { ScenarioBook, SPANS_LIMIT } from './book.ts'
import { deviceId, targetsOf, usualDevice } from './devices.ts'
import { parseScenario, START_DELAY_S } from './flag.ts'
import { parseRequest } from './request.ts'
import { SCENARIOS } from './scenarios.ts'
import { PlayedNode } from './test-struck-node.ts'

const NOW_S = 2.6e7

function bookOf(nodeClass = 'hgx-h100'): { book: ScenarioBook; effects: () => readonly Effects[] } {
  const node = NODE_CLASSES.find(({ name }) => name === nodeClass) ?? NODE_CLASSES[0]
  const played = new PlayedNode(node)
  return { book: new ScenarioBook(played), effects: () => played.effects }
}

test('a scenario chooses its device, severity and duration, and is listed until it ends', () => {
  const { book } = bookOf()
  const started = book.start({ name: 'straggler' }, NOW_S)
  assert.deepEqual(
    { ...started, effects: undefined },
    {
      id: '1',
      name: 'straggler',
      device: 'sim-gpu-5',
      onsetS: NOW_S,
      endS: NOW_S + 180,
      severity: 1.25,
      effects: undefined,
    },
  )
  assert.equal(book.running(NOW_S + 179).length, 1)
  assert.equal(book.running(NOW_S + 180).length, 0)
})

test('a scenario that is stopped early has no later effect, and its past stays', () => {
  const { book, effects } = bookOf()
  book.start({ name: 'retransmission-storm' }, NOW_S)
  book.stop('1', NOW_S + 30)
  assert.deepEqual(
    effects().flatMap(({ spans }) => spans.map(({ fromS, toS }) => [fromS - NOW_S, toS - NOW_S])),
    [[0, 30]],
  )
  assert.throws(() => book.stop('1', NOW_S + 31), { code: 'SIM_UNKNOWN', message: /none runs/ })
  assert.throws(() => book.stop('9', NOW_S), { code: 'SIM_UNKNOWN' })
})

test('one that is ended while it waits never happens', () => {
  const { book, effects } = bookOf()
  book.start({ name: 'power-brake', delayS: 60 }, NOW_S)
  book.stop('1', NOW_S + 10)
  assert.deepEqual(
    effects().flatMap(({ spans }) => spans),
    [],
  )
})

test('the same starts at the same times give the same effects', () => {
  const [first, second] = [bookOf(), bookOf()]
  for (const { book } of [first, second]) {
    book.start({ name: 'pcie-downtrain', delayS: 20 }, NOW_S)
    book.start({ name: 'link-flap', device: 'mlx5_1' }, NOW_S + 3)
    book.stop('1', NOW_S + 25)
  }
  assert.deepEqual(first.effects(), second.effects())
})

test('names that there are not are refused with all that there are, and the nearest', () => {
  const { book } = bookOf()
  assert.throws(() => book.start({ name: 'stragler' }, NOW_S), {
    code: 'SIM_UNKNOWN',
    message: /^unknown scenario "stragler", did you mean "straggler"\?; allowed: healthy, .*random$/,
  })
  assert.throws(() => book.start({ name: 'straggler', device: 'gpu-8' }, NOW_S), {
    code: 'SIM_UNKNOWN',
    message: /sim-gpu-0, .*sim-gpu-7$/,
  })
})

test('devices of the wrong kind, and devices of a scenario of the node, are refused', () => {
  const { book } = bookOf()
  for (const [name, device] of [
    ['straggler', 'sim-nic-mlx5_0-1'],
    ['retransmission-storm', 'sim-gpu-0'],
    ['retransmission-storm', 'mlx5_bond_0'],
    ['power-cap', 'sim-gpu-0'],
  ] as const)
    assert.throws(() => book.start({ name, device }, NOW_S), { code: 'SIM_FORM' }, `${name} on ${device}`)
  assert.throws(() => bookOf('small').book.start({ name: 'mig' }, NOW_S), {
    code: 'SIM_FORM',
    message: /small has none/,
  })
})

test('severity, delay and duration out of range are refused with the range; so is the past', () => {
  const { book } = bookOf()
  const form = { code: 'SIM_FORM' }
  assert.throws(() => book.start({ name: 'straggler', severity: 9 }, NOW_S), { ...form, message: /1\.05 to 3 \(times/ })
  assert.throws(() => book.start({ name: 'straggler', severity: Number.NaN }, NOW_S), form)
  assert.throws(() => book.start({ name: 'straggler', delayS: -5 }, NOW_S), { ...form, message: /past/ })
  assert.throws(() => book.start({ name: 'straggler', durationS: 0 }, NOW_S), form)
  assert.throws(() => book.start({ name: 'straggler', delayS: 1e9 }, NOW_S), form)
  assert.equal(book.running(NOW_S).length, 0)
})

test('the same scenario on the same device at the same time is refused; on another, or after it, it is not', () => {
  const { book } = bookOf()
  book.start({ name: 'link-flap', durationS: 60 }, NOW_S)
  assert.throws(() => book.start({ name: 'link-flap', device: 'mlx5_3', delayS: 59 }, NOW_S), {
    code: 'SIM_OVERLAP',
    message: /id 1/,
  })
  book.start({ name: 'link-flap', device: '18:00.0' }, NOW_S)
  book.start({ name: 'link-flap', delayS: 60 }, NOW_S)
  book.start({ name: 'straggler' }, NOW_S)
  book.stop('1', NOW_S + 10)
  book.start({ name: 'link-flap', durationS: 20 }, NOW_S + 10)
})

test('so many run at a time and no more, and changes are bounded', () => {
  const { book, effects } = bookOf()
  const rest = SCENARIOS.filter(({ name }) => name !== 'healthy').slice(0, RUNNING_LIMIT)
  for (const { name } of rest) book.start({ name, durationS: 5 }, NOW_S)
  assert.throws(() => book.start({ name: 'healthy' }, NOW_S), { code: 'SIM_LIMIT', message: /16 scenarios/ })
  const fill = () => {
    for (let nowS = NOW_S + 400; ; nowS += 400) book.start({ name: 'link-flap', durationS: 300 }, nowS)
  }
  assert.throws(fill, { code: 'SIM_LIMIT', message: /384 changes/ })
  assert.ok(effects().reduce((sum, { spans }) => sum + spans.length, 0) <= SPANS_LIMIT)
})

test('every scenario fits a node of every class that has its devices, and the model takes what it does', () => {
  for (const node of NODE_CLASSES) {
    const simulation = new Simulation({ seed: 3, node, workload: 'training', effects: [] })
    for (const scenario of SCENARIOS) {
      if (scenario.target !== 'node' && targetsOf(node, scenario).length === 0) continue
      const book = new ScenarioBook(simulation)
      for (const severity of [scenario.severity.min, scenario.severity.max]) {
        for (const durationS of [1, 3000]) {
          const { id } = book.start({ name: scenario.name, severity, durationS, delayS: 100 }, NOW_S)
          simulation.at(new SchedulePosition(), NOW_S + 10_000)
          assert.ok(simulation.segments.length < 200, `${scenario.name} on ${node.name}: ${simulation.segments.length}`)
          book.stop(id, NOW_S)
        }
      }
    }
  }
})

test('where no device is named it is the usual one, or the last that there is', () => {
  const [hgx, , , , small] = NODE_CLASSES
  for (const scenario of SCENARIOS.filter(({ target }) => target !== 'node')) {
    const device = usualDevice(hgx, scenario)
    assert.ok(device !== undefined, scenario.name)
    assert.match(deviceId(hgx, device), /^sim-(gpu-\d|nic-mlx5_\d-1)$/)
    const ofSmall = usualDevice(small, scenario)
    // A single GPU without MIG, and a single NIC.
    const fits = !['mig', 'hash-collision'].includes(scenario.name)
    assert.equal(ofSmall?.index, fits ? 0 : undefined, scenario.name)
  }
})

test('where the usual device is not free, seed and start choose one that is: the same each time', () => {
  const started = () => {
    const { book } = bookOf()
    const names = ['retransmission-storm', 'pcie-downtrain', 'link-ber', 'noisy-neighbour', 'noisy-neighbour']
    return names.map((name) => book.start({ name }, NOW_S).device)
  }
  const devices = started()
  assert.equal(devices[0], 'sim-nic-mlx5_3-1')
  assert.equal(new Set(devices).size, devices.length, devices.join(', '))
  assert.deepEqual(started(), devices)
  const { book } = bookOf()
  book.start({ name: 'link-flap', delayS: 100, durationS: 60 }, NOW_S)
  assert.equal(book.start({ name: 'link-ber', durationS: 50 }, NOW_S).device, 'sim-nic-mlx5_3-1', 'free until then')
})

test('a request has known keys of the right type, and a name', () => {
  assert.deepEqual(parseRequest({ name: 'mig', severity: 7 }), { name: 'mig', severity: 7 })
  for (const wrong of [null, [], 'mig', {}, { name: 3 }, { name: 'mig', severity: '7' }, { name: 'mig', gpu: 1 }])
    assert.throws(() => parseRequest(wrong), { code: 'SIM_FORM' }, JSON.stringify(wrong))
})

test('the form of the command line is name, device, severity and delay', () => {
  assert.deepEqual(parseScenario('straggler'), { name: 'straggler', delayS: START_DELAY_S })
  assert.deepEqual(parseScenario('straggler@gpu-5:1.5:0'), {
    name: 'straggler',
    device: 'gpu-5',
    severity: 1.5,
    delayS: 0,
  })
  assert.deepEqual(parseScenario('link-ber:3e-5'), { name: 'link-ber', severity: 3e-5, delayS: START_DELAY_S })
  assert.deepEqual(parseScenario('link-flap@mlx5_2::30'), { name: 'link-flap', device: 'mlx5_2', delayS: 30 })
  assert.throws(() => parseScenario('stragler'), { code: 'SIM_UNKNOWN' })
  for (const wrong of ['', 'straggler@', 'straggler:1:2:3', 'straggler:x', 'straggler gpu', 'straggler:1-2'])
    assert.throws(() => parseScenario(wrong), { code: 'SIM_FORM' }, wrong)
})

test('scenarios may be started for ever: what is over is forgotten, and what it counted is not', () => {
  const simulation = new Simulation({ seed: 3, node: NODE_CLASSES[0], workload: 'training', effects: [] })
  const book = new ScenarioBook(simulation)
  const downs = (t: number) => {
    const out = new Float64Array(NIC_COUNT)
    nicNumbers(out, 3, simulation.node.nics[3] as NicPlace, simulation.at(new SchedulePosition(), t))
    return out[NIC_QUANTITIES.linkDowns] as number
  }
  const before = downs(NOW_S)
  for (let round = 0; round < 100; round++) book.start({ name: 'link-flap' }, NOW_S + round * 200)
  assert.equal(downs(NOW_S + 100 * 200) - before, 300)
  assert.ok(simulation.segments.length < 50, `${simulation.segments.length} segments are kept`)
})
