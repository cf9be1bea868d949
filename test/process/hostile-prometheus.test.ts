// What a server behind the console may answer: it has a sentence that is so, and asks nobody to wait.
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { startSonde } from '../sonde-process.ts'

const HEAD = '{"status":"success","data":{"resultType":"matrix","result":['

const withResult =
  (text: string): RequestListener =>
  (_, response) =>
    void response.end(`${HEAD}${text}]}}`)

const endless =
  (start: string, more: string): RequestListener =>
  (_, response) => {
    response.write(start)
    const go = () => void (response.destroyed || response.write(more, () => setImmediate(go)))
    go()
  }

const TOO_MUCH = /answers with too much/
const NONSENSE = /answers, and not as a Prometheus does/
const ANSWERS: readonly (readonly [what: string, answer: RequestListener, says: RegExp])[] = [
  ['a list without end', endless(HEAD, '['.repeat(65_536)), TOO_MUCH],
  ['a text without end', endless(`${HEAD}{"metric":{"a":"`, 'b'.repeat(65_536)), TOO_MUCH],
  ['blanks without end', endless('', ' '.repeat(65_536)), TOO_MUCH],
  ['null in place of a series', withResult('null'), NONSENSE],
  ['a number in place of a series', withResult('1'), NONSENSE],
  ['labels that are none', withResult('{"metric":null,"values":[[1,"1"]]}'), NONSENSE],
  ['a label that is no text', withResult('{"metric":{"pod":{}},"values":[[1,"1"]]}'), NONSENSE],
  ['a value that is none', withResult('{"metric":{"__part":"0"},"values":[null]}'), NONSENSE],
  ['a page of a proxy', (_, response) => void response.end('<script>alert(1)</script>'), NONSENSE],
]

/** A console over a server that answers so. */
async function bringUp(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sonde = await startSonde(['console', '--prometheus', url, '--log-level', 'error'])
  t.after(() => sonde.stop('SIGKILL'))
  return sonde.address
}

// A console of its own each: a server that failed three times is spared.
for (const [what, answer, says] of ANSWERS) {
  test(`${what} is called what it is, and others are answered meanwhile`, async (t) => {
    const address = await bringUp(t, answer)
    const asked = fetch(`${address}/api/v1/pods`).then((response) => response.json() as Promise<unknown>)
    assert.equal((await fetch(`${address}/healthz`)).status, 200)
    const { error } = (await asked) as { error?: { code: string; message: string } }
    assert.match(error?.message ?? '', says)
  })
}
