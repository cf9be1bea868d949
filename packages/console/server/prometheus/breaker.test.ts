import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { Breaker } from './breaker.ts'

const fail = () => Promise.reject(new SondeError('BKD_UNREACHABLE', 'down'))
const refuse = () => Promise.reject(new SondeError('BKD_REFUSED', 'too much'))
const answer = async () => 1

test('after three failures within a minute nothing is asked for 30 s, then one question tries', async () => {
  const breaker = new Breaker()
  for (const atMs of [0, 1000, 2000]) await assert.rejects(breaker.through(atMs, fail), { code: 'BKD_UNREACHABLE' })
  await assert.rejects(breaker.through(3000, answer), { code: 'BKD_OPEN' })
  await assert.rejects(breaker.through(32_001, fail), { code: 'BKD_UNREACHABLE' })
  await assert.rejects(breaker.through(32_002, answer), { code: 'BKD_OPEN' })
  assert.equal(await breaker.through(62_003, answer), 1)
  assert.equal(await breaker.through(62_004, answer), 1)
})

test('questions that the server refuses, and failures far apart, do not open it', async () => {
  const breaker = new Breaker()
  for (let atMs = 0; atMs < 5; atMs++) await assert.rejects(breaker.through(atMs, refuse), { code: 'BKD_REFUSED' })
  for (const atMs of [0, 61_000, 122_000, 183_000]) await assert.rejects(breaker.through(atMs, fail))
  assert.equal(await breaker.through(184_000, answer), 1)
})
