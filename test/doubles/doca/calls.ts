import assert from 'node:assert/strict'
import koffi from 'koffi'

/** What a function is called with; memory that it writes is an array. */
export type Argument = number | bigint | BigUint64Array | Uint8Array | Float64Array

/** Calls of the libraries by name. Each gives its error without its prefix, such as `SUCCESS` or `BAD_STATE`. */
export class Calls {
  readonly #libraries: ReturnType<typeof koffi.load>[]
  readonly #nameOf: (error: number) => string

  constructor({ common, telemetry }: { readonly common: string; readonly telemetry: string }) {
    this.#libraries = [koffi.load(common), koffi.load(telemetry)]
    this.#nameOf = this.#libraries[0]!.func('const char *doca_error_get_name(int error)')
  }

  /** `types` are those of the parameters as koffi spells them, `p` for a pointer. */
  call(name: string, types: string, ...args: Argument[]): string {
    return this.#errorOf(this.#bind(name, types)(...args))
  }

  /** The same on a thread of the pool. */
  callAsync(name: string, types: string, ...args: Argument[]): Promise<string> {
    const bound = this.#bind(name, types)
    return new Promise((resolve, reject) =>
      bound.async(...args, (error: Error | null, code: number) =>
        error ? reject(error) : resolve(this.#errorOf(code)),
      ),
    )
  }

  /** Calls a function that has to succeed. */
  good(name: string, types: string, ...args: Argument[]): void {
    assert.equal(this.call(name, types, ...args), 'SUCCESS', name)
  }

  /** What a function writes as an integer of up to 64 bits into its last parameter. */
  number(name: string, types: string, ...args: Argument[]): bigint {
    const memory = new BigUint64Array(1)
    this.good(name, `${types} p`, ...args, memory)
    return memory[0]!
  }

  /** Elements of a new list of devices, and the list. */
  list(): { readonly infos: readonly bigint[]; readonly list: bigint } {
    const list = new BigUint64Array(1)
    const count = new BigUint64Array(1)
    this.good('doca_devinfo_create_list', 'p p', list, count)
    const array = koffi.array('uintptr_t', Number(count[0]))
    return { infos: Array.from(koffi.decode(list[0], array) as Iterable<number>, BigInt), list: list[0]! }
  }

  /** Opens the device that is listed first, or at another place. */
  open(at = 0): { readonly dev: bigint; readonly info: bigint } {
    const { infos, list } = this.list()
    const dev = this.number('doca_dev_open', 'p', infos[at]!)
    this.good('doca_devinfo_destroy_list', 'p', list)
    const info = this.#libraries[0]!.func('uintptr_t doca_dev_as_devinfo(void *dev)')(dev)
    return { dev, info: BigInt(info) }
  }

  #bind(name: string, types: string) {
    const library = this.#libraries[name.startsWith('doca_telemetry_') ? 1 : 0]!
    const parameters = types.split(' ').filter((type) => type !== '')
    return library.func(
      name,
      'int',
      parameters.map((type) => (type === 'p' ? 'void *' : type)),
    )
  }

  #errorOf(code: number): string {
    return this.#nameOf(code).replace(/^DOCA_(ERROR_)?/, '')
  }
}
