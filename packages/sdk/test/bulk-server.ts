import assert from 'node:assert/strict'

type Document = Readonly<Record<string, unknown>>
type Status = { readonly status: number; readonly error?: unknown }

/**
 * What a server for `_bulk` has, and the answers that it gives. It checks every line, and refuses what Elasticsearch
 * does.
 */
export class BulkServer {
  /** Documents by index. */
  readonly indexes = new Map<string, Document[]>()
  /** The fault of a document; undefined: it is stored. */
  faultOf: (document: Document) => Status | undefined = () => undefined
  /** Faults of requests that are none: a test fails with any. */
  readonly malformed: string[] = []
  readonly #ids = new Set<string>()

  /** All documents. */
  get documents(): Document[] {
    return [...this.indexes.values()].flat()
  }

  /** Answers a body as the server does. */
  readonly answer = (body: string): { readonly status: number; readonly text: string } => {
    try {
      assert.ok(body.endsWith('\n'), 'the last line ends in a line feed')
      const lines = body.slice(0, -1).split('\n')
      assert.equal(lines.length % 2, 0, 'an action and a document each')
      const items: { create: Status }[] = []
      for (let i = 0; i < lines.length; i += 2) items.push({ create: this.#create(lines[i] ?? '', lines[i + 1] ?? '') })
      return { status: 200, text: JSON.stringify({ errors: items.some(({ create }) => create.status >= 300), items }) }
    } catch (error) {
      this.malformed.push(String(error))
      return { status: 400, text: 'malformed' }
    }
  }

  #create(action: string, source: string): Status {
    const { create, ...others } = JSON.parse(action)
    assert.deepEqual([Object.keys(others), typeof create._index], [[], 'string'])
    const document: Document = JSON.parse(source)
    const time = String(document['@timestamp'])
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
    for (const digits of source.matchAll(/:(\d{16,})/g))
      assert.ok(BigInt(digits[1] ?? 0) < 2n ** 63n, 'a number that is no long is refused')
    const id = create._id
    if (id !== undefined && this.#ids.has(`${create._index} ${id}`))
      return { status: 409, error: { type: 'version_conflict_engine_exception', reason: 'document already exists' } }
    const fault = this.faultOf(document)
    if (fault !== undefined) return fault
    this.#ids.add(`${create._index} ${id}`)
    const kept = this.indexes.get(create._index) ?? []
    // Digits that a double cannot hold are kept as text.
    kept.push(JSON.parse(source.replace(/:(\d{16,})/g, ':"$1"')))
    this.indexes.set(create._index, kept)
    return { status: 201 }
  }
}
