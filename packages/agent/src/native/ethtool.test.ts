import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../test/debian.ts'
import { EthtoolDouble } from '../../../../test/doubles/ethtool-double.ts'
import { CallFailure } from './call-failure.ts'
import { EthtoolSocket, STATISTICS_LIMIT, type StatisticSet } from './ethtool.ts'

const NEEDS = needs('cc')
const STATS = [
  ['rx_bytes', 2n ** 64n - 1n],
  ['tx_bytes', 2n ** 53n + 1n],
  ['a_name_that_fills_all_32_bytes_1', 7],
] as const

function bringUp(t: TestContext): { double: EthtoolDouble; socket: EthtoolSocket } {
  const double = new EthtoolDouble(t)
  const socket = new EthtoolSocket(double.library)
  t.after(() => socket.close())
  return { double, socket }
}

/** The content of an answer, or the reason of its absence. */
function sound<T>(answer: T | CallFailure): T {
  if (answer instanceof CallFailure) throw answer.error
  return answer
}

function failure(answer: unknown): CallFailure {
  assert.ok(answer instanceof CallFailure)
  return answer
}

const namesOf = ({ count, names }: StatisticSet) =>
  Array.from({ length: count }, (_, at) => names.toString('latin1', at * 32, at * 32 + 32).replace(/\0.*/, ''))
const valuesOf = ({ values }: StatisticSet) => [...new BigUint64Array(values.slice().buffer)]

test('reads driver, link and every bit of the values', NEEDS, async (t) => {
  const { double, socket } = bringUp(t)
  double.play({
    eth0: {
      stats: STATS,
      driver: ['mlx5_core', '6.18.44', '28.41.1000', '0000:9a:00.0'],
      link: 1,
      settings: {
        speedMbit: 400_000,
        duplex: 1,
        port: 5,
        autonegotiation: 1,
        masks: [
          [1, 2],
          [3, 4],
          [5, 0xffffffff],
        ],
      },
    },
  })
  assert.deepEqual(await socket.driver('eth0'), {
    driver: 'mlx5_core',
    version: '6.18.44',
    firmware: '28.41.1000',
    busInfo: '0000:9a:00.0',
  })
  assert.equal(await socket.linkDetected('eth0'), true)
  assert.deepEqual(await socket.linkSettings('eth0'), {
    speedMbit: 400_000,
    duplex: 1,
    port: 5,
    autonegotiation: 1,
    supported: [1, 2],
    advertised: [3, 4],
    partnerAdvertised: [5, 0xffffffff],
  })
  const set = sound(await socket.statistics('eth0'))
  assert.deepEqual(
    namesOf(set),
    STATS.map(([name]) => name),
  )
  assert.deepEqual(
    valuesOf(set),
    STATS.map(([, value]) => BigInt(value)),
  )
})

test('fills the same set anew while the names stay, and makes another when one changes', NEEDS, async (t) => {
  const { double, socket } = bringUp(t)
  double.play({
    eth0: {
      stats: [
        ['a', 1],
        ['b', 2],
      ],
    },
  })
  const first = sound(await socket.statistics('eth0'))
  double.play({
    eth0: {
      stats: [
        ['a', 3],
        ['b', 4],
      ],
    },
  })
  assert.equal(await socket.statistics('eth0', first), first)
  assert.deepEqual(valuesOf(first), [3n, 4n])
  double.play({
    eth0: {
      stats: [
        ['a', 5],
        ['c', 6],
      ],
    },
  })
  const second = sound(await socket.statistics('eth0', first))
  assert.notEqual(second, first)
  assert.deepEqual(namesOf(second), ['a', 'c'])
  assert.deepEqual(valuesOf(first), [3n, 4n], 'what was given out is not touched')
})

for (const kernel of ['old', 'new'] as const) {
  for (const call of ['gstrings', 'gstats']) {
    test(
      `${kernel} kernel: statistics that come while they are read (at ${call}) are all there, none beyond`,
      NEEDS,
      async (t) => {
        const { double, socket } = bringUp(t)
        double.play({ eth0: { stats: STATS, faults: [`grow ${call} 40`] } }, { kernel })
        const set = sound(await socket.statistics('eth0'))
        assert.equal(set.count, 43)
        assert.equal(namesOf(set).at(-1), 'grown_39')
        assert.equal(valuesOf(set).at(-1), 39n)
      },
    )
  }
  test(`${kernel} kernel: statistics that go are re-read`, NEEDS, async (t) => {
    const { double, socket } = bringUp(t)
    double.play({ eth0: { stats: STATS } }, { kernel })
    const set = sound(await socket.statistics('eth0'))
    double.play({ eth0: { stats: STATS.slice(0, 1) } }, { kernel })
    assert.deepEqual(namesOf(sound(await socket.statistics('eth0', set))), ['rx_bytes'])
    double.play({ eth0: {} }, { kernel })
    assert.equal(sound(await socket.statistics('eth0', set)).count, 0)
  })
}

test('a driver that never says the same number twice, or too large a one, fails in words', NEEDS, async (t) => {
  const { double, socket } = bringUp(t)
  for (const claim of ['claim gstats 2', 'claim gstrings 4', 'claim gsset_info 2', 'claim gstats 4000000000']) {
    double.play({ eth0: { stats: STATS, faults: [claim] } })
    const failed = failure(await socket.statistics('eth0'))
    assert.equal(failed.kind, 'failed')
    assert.match(failed.error.message, /^eth0: ETHTOOL_\w+ answers another number of statistics at each of 3 attempts$/)
  }
  double.play({ eth0: { stats: STATS, faults: [`claim gsset_info ${STATISTICS_LIMIT + 1}`] } })
  assert.match(failure(await socket.statistics('eth0')).error.message, /65537 statistics, more than 65536/)
})

test('as many statistics as are ever taken', NEEDS, async (t) => {
  const { double, socket } = bringUp(t)
  double.play({ eth0: { stats: STATS, faults: [`grow gsset_info ${STATISTICS_LIMIT - STATS.length}`] } })
  assert.equal(valuesOf(sound(await socket.statistics('eth0'))).at(-1), BigInt(STATISTICS_LIMIT - STATS.length - 1))
})

test('errors of the kernel keep their meaning', NEEDS, async (t) => {
  const { double, socket } = bringUp(t)
  const cases = [
    [95, 'unsupported', 'EOPNOTSUPP'],
    [524, 'unsupported', 'E524'],
    [1, 'denied', 'EPERM'],
    [19, 'gone', 'ENODEV'],
    [5, 'failed', 'EIO'],
    [110, 'failed', 'ETIMEDOUT'],
  ] as const
  for (const [number, kind, name] of cases) {
    double.play({ eth0: { stats: STATS, faults: [`errno gstats ${number}`, `errno glinksettings ${number}`] } })
    for (const answer of [await socket.statistics('eth0'), await socket.linkSettings('eth0')]) {
      assert.equal(failure(answer).kind, kind)
      assert.match(failure(answer).error.message, new RegExp(`^eth0: ETHTOOL_\\w+ answers ${name}`))
    }
  }
  assert.equal(failure(await socket.driver('eth9')).kind, 'gone')
})

test('a call that hangs holds no other up, and its memory is not used meanwhile', NEEDS, async (t) => {
  const { double, socket } = bringUp(t)
  double.play({ eth0: { stats: [['a', 1]], faults: ['hang gstats'] }, eth1: { stats: [['b', 2]] } })
  const hanging = socket.statistics('eth0')
  for (let i = 0; i < 20; i++) assert.deepEqual(valuesOf(sound(await socket.statistics('eth1'))), [2n])
  socket.close()
  double.play({ eth0: { stats: [['a', 1]] } })
  const set = sound(await hanging)
  assert.deepEqual(namesOf(set), ['a'], 'the socket stayed open for it')
  assert.deepEqual(valuesOf(set), [1n])
})

test('a library that is not there is refused in words', () => {
  assert.throws(() => new EthtoolSocket('/nowhere/ethtool.so'), { code: 'SRC_LIBRARY' })
})
