import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A message as it arrived. */
export interface Arrived {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A real receiver on the loopback interface. */
export class TestReceiver {
  readonly arrived: Arrived[] = []
  /** Answers a message. Default: status 204. */
  answer: (response: ServerResponse, arrived: Arrived) => void = (response) => response.writeHead(204).end()
  #url = ''

  /** Starts one that ends with the test. */
  static async start(t: TestContext): Promise<TestReceiver> {
    const receiver = new TestReceiver()
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      const arrived = { headers: request.headers, body }
      receiver.arrived.push(arrived)
      receiver.answer(response, arrived)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    receiver.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    return receiver
  }

  /** Its URL, with a secret in path and query. */
  get url(): string {
    return `${this.#url}/hunter2?key=hunter2`
  }
}
