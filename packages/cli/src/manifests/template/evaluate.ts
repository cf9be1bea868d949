import { FUNCTIONS, isTrue, printed } from './functions.ts'
import type { Node, Operand, Pipeline, Templates } from './parse.ts'

/** Variables of a block, and those of the block around it. */
interface Variables {
  readonly own: Map<string, unknown>
  readonly outer: Variables | undefined
}

interface Scope {
  /** The value of `.`. */
  readonly dot: unknown
  readonly variables: Variables
}

type Method = (...args: unknown[]) => unknown

/** Runs templates of Go, as far as the chart uses them: see `docs/adr`. */
export class Evaluation {
  readonly #templates: Templates

  constructor(templates: Templates) {
    this.#templates = templates
  }

  /** The text of a template for a value. */
  render(name: string, dot: unknown): string {
    const nodes = this.#templates.get(name)
    if (nodes === undefined) throw new Error(`no template is called ${name}`)
    return this.#run(nodes, { dot, variables: { own: new Map([['$', dot]]), outer: undefined } })
  }

  #run(nodes: readonly Node[], scope: Scope): string {
    return nodes.map((node) => this.#textOf(node, scope)).join('')
  }

  #textOf(node: Node, scope: Scope): string {
    if (node.kind === 'text') return node.text
    const value = this.#valueOf(node.pipeline, scope)
    if (node.kind === 'print') return printed(value)
    if (node.kind === 'set') {
      assign(scope.variables, node, value)
      return ''
    }
    if (node.kind === 'range') return this.#range(node, value, scope)
    if (!isTrue(value)) return this.#run(node.other, inner(scope, scope.dot))
    return this.#run(node.body, inner(scope, node.kind === 'with' ? value : scope.dot))
  }

  #range(node: Extract<Node, { kind: 'range' }>, value: unknown, scope: Scope): string {
    const entries: [unknown, unknown][] = Array.isArray(value)
      ? [...value.entries()]
      : Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
    if (entries.length === 0) return this.#run(node.other, inner(scope, scope.dot))
    return entries
      .map(([key, each]) => {
        const turn = inner(scope, each)
        const [first = '', second] = node.variables
        if (second !== undefined) turn.variables.own.set(second, each)
        if (first !== '') turn.variables.own.set(first, second === undefined ? each : key)
        return this.#run(node.body, turn)
      })
      .join('')
  }

  #valueOf(pipeline: Pipeline, scope: Scope): unknown {
    let last: unknown[] = []
    for (const command of pipeline) last = [this.#call(command, last, scope)]
    return last[0]
  }

  /** The value of a command; `last` is the result of the command before it, as its last argument. */
  #call([first, ...rest]: readonly Operand[], last: readonly unknown[], scope: Scope): unknown {
    if (first === undefined) throw new Error('a command is empty')
    if (first.kind === 'function') {
      if (first.name === 'and' || first.name === 'or') return this.#firstThat(first.name === 'or', rest, scope)
      const args = [...rest.map((operand) => this.#operand(operand, scope)), ...last]
      if (first.name === 'include') return this.render(String(args[0]), args[1])
      const call = Object.hasOwn(FUNCTIONS, first.name) ? FUNCTIONS[first.name] : undefined
      if (call === undefined) throw new Error(`no function is called ${first.name}`)
      return call(...args)
    }
    const value = this.#operand(first, scope)
    const args = [...rest.map((operand) => this.#operand(operand, scope)), ...last]
    return typeof value === 'function' ? (value as Method)(...args) : value
  }

  /** The first value that is true, or that is not; else the last. */
  #firstThat(isSought: boolean, operands: readonly Operand[], scope: Scope): unknown {
    let value: unknown
    for (const operand of operands) {
      value = this.#operand(operand, scope)
      if (isTrue(value) === isSought) return value
    }
    return value
  }

  #operand(operand: Operand, scope: Scope): unknown {
    if (operand.kind === 'literal') return operand.value
    if (operand.kind === 'function') return this.#call([operand], [], scope)
    const start =
      operand.kind === 'pipeline'
        ? this.#valueOf(operand.pipeline, scope)
        : operand.variable === '.'
          ? scope.dot
          : lookUp(scope.variables, operand.variable)
    return operand.fields.reduce(fieldOf, start)
  }
}

function inner(scope: Scope, dot: unknown): Scope {
  return { dot, variables: { own: new Map(), outer: scope.variables } }
}

function assign(
  variables: Variables,
  { variable, isNew }: { readonly variable: string; readonly isNew: boolean },
  value: unknown,
): void {
  let place: Variables | undefined = variables
  while (!isNew && place !== undefined && !place.own.has(variable)) place = place.outer
  if (place === undefined) throw new Error(`${variable} is not declared`)
  place.own.set(variable, value)
}

function lookUp(variables: Variables, name: string): unknown {
  for (let place: Variables | undefined = variables; place !== undefined; place = place.outer)
    if (place.own.has(name)) return place.own.get(name)
  throw new Error(`${name} is not declared`)
}

/** A missing key is no value; a key of a missing value is a fault of the template, as in Go. */
function fieldOf(value: unknown, name: string): unknown {
  if (value === null || value === undefined) throw new Error(`there is no .${name} of a missing value`)
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}
