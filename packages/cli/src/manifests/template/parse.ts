import { type ActionWord, templateParts, wordsOf } from './tokens.ts'

/** A value in an action: a literal, a path of fields, or the result of a pipeline. */
export type Operand =
  | { readonly kind: 'literal'; readonly value: unknown }
  /** A function without arguments, or the name of a function before its arguments. */
  | { readonly kind: 'function'; readonly name: string }
  /** Fields of a variable; of the value of the block if the variable is `.`. */
  | { readonly kind: 'path'; readonly variable: string; readonly fields: readonly string[] }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly fields: readonly string[] }

/** Commands, each with its operands; the result of a command is the last argument of the next. */
export type Pipeline = readonly (readonly Operand[])[]

/** A node of a template. */
export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipeline: Pipeline }
  | { readonly kind: 'set'; readonly variable: string; readonly isNew: boolean; readonly pipeline: Pipeline }
  | { readonly kind: 'if' | 'with'; readonly pipeline: Pipeline; readonly body: Node[]; readonly other: Node[] }
  | {
      readonly kind: 'range'
      readonly variables: readonly string[]
      readonly pipeline: Pipeline
      readonly body: Node[]
      readonly other: Node[]
    }

/** Templates by the name of their `define`; that of the file itself has the name that was given. */
export type Templates = Map<string, readonly Node[]>

type BlockNode = Extract<Node, { body: Node[] }>

/** An open block, and the list that its next nodes go to. */
interface Frame {
  readonly node: BlockNode | undefined
  list: Node[]
  /** For `else if`: its `end` ends the block around it, too. */
  readonly endsOuter: boolean
}

/** Reads a template and the templates that it defines. */
export function parseTemplate(name: string, text: string, templates: Templates): void {
  const main: Node[] = []
  let frames: Frame[] = [{ node: undefined, list: main, endsOuter: false }]
  const top = () => frames.at(-1) as Frame
  const add = (node: Node) => top().list.push(node)
  for (const piece of templateParts(text)) {
    if ('text' in piece) {
      add({ kind: 'text', text: piece.text })
      continue
    }
    const tokens = wordsOf(piece.action)
    const [first, second] = tokens
    const word = first?.kind === 'name' ? first.value : ''
    if (word === 'define') {
      const body: Node[] = []
      templates.set(second?.value ?? '', body)
      frames.push({ node: undefined, list: body, endsOuter: false })
    } else if (word === 'if' || word === 'with' || word === 'range') {
      open(frames, blockOf(word, tokens.slice(1)), false)
    } else if (word === 'else') {
      const { node } = top()
      if (node === undefined) throw new Error(`${name}: else without if`)
      top().list = node.other
      if (second?.kind === 'name' && (second.value === 'if' || second.value === 'with'))
        open(frames, blockOf(second.value, tokens.slice(2)), true)
    } else if (word === 'end') {
      while (frames.pop()?.endsOuter);
      if (frames.length === 0) throw new Error(`${name}: end without a block`)
    } else {
      add(actionOf(tokens))
    }
  }
  if (frames.length !== 1) throw new Error(`${name}: a block has no end`)
  frames = []
  templates.set(name, main)
}

function open(frames: Frame[], node: BlockNode, endsOuter: boolean): void {
  frames.at(-1)?.list.push(node)
  frames.push({ node, list: node.body, endsOuter })
}

function blockOf(kind: BlockNode['kind'], tokens: readonly ActionWord[]): BlockNode {
  if (kind !== 'range') return { kind, pipeline: pipelineOf(tokens), body: [], other: [] }
  const at = tokens.findIndex(({ value, kind }) => kind === 'mark' && value === ':=')
  const variables = tokens.slice(0, Math.max(at, 0)).filter((token) => token.kind === 'variable')
  return {
    kind,
    variables: variables.map(({ value }) => value),
    pipeline: pipelineOf(tokens.slice(at + 1)),
    body: [],
    other: [],
  }
}

function actionOf(tokens: readonly ActionWord[]): Node {
  const [first, second] = tokens
  const isSet = first?.kind === 'variable' && second?.kind === 'mark' && (second.value === ':=' || second.value === '=')
  if (!isSet) return { kind: 'print', pipeline: pipelineOf(tokens) }
  const pipeline = pipelineOf(tokens.slice(2))
  return { kind: 'set', variable: first.value, isNew: second.value === ':=', pipeline }
}

function pipelineOf(tokens: readonly ActionWord[]): Pipeline {
  const reader = { tokens, next: 0 }
  const pipeline = readPipeline(reader)
  if (reader.next < tokens.length) throw new Error(`${tokens[reader.next]?.value} was not expected`)
  return pipeline
}

function readPipeline(reader: { readonly tokens: readonly ActionWord[]; next: number }): Pipeline {
  const commands: Operand[][] = [[]]
  for (;;) {
    const token = reader.tokens[reader.next]
    if (token === undefined || (token.kind === 'mark' && token.value === ')')) return commands
    reader.next += 1
    if (token.kind === 'mark' && token.value === '|') commands.push([])
    else if (token.kind === 'mark' && token.value === '(') {
      const pipeline = readPipeline(reader)
      reader.next += 1
      const after = reader.tokens[reader.next]
      const hasFields = after?.kind === 'field' && after.isGlued
      if (hasFields) reader.next += 1
      commands.at(-1)?.push({ kind: 'pipeline', pipeline, fields: hasFields ? fieldsOf(after.value) : [] })
    } else commands.at(-1)?.push(operandOf(token))
  }
}

const LITERALS: Readonly<Record<string, unknown>> = { true: true, false: false, nil: undefined }

function operandOf({ kind, value }: ActionWord): Operand {
  if (kind === 'text') return { kind: 'literal', value }
  if (kind === 'number') return { kind: 'literal', value: Number(value) }
  if (kind === 'field') return { kind: 'path', variable: '.', fields: fieldsOf(value) }
  if (kind === 'variable') {
    const [variable = '$', ...fields] = value.split('.')
    return { kind: 'path', variable, fields }
  }
  if (kind === 'name')
    return Object.hasOwn(LITERALS, value)
      ? { kind: 'literal', value: LITERALS[value] }
      : { kind: 'function', name: value }
  throw new Error(`${value} was not expected`)
}

function fieldsOf(path: string): string[] {
  return path.split('.').filter((field) => field !== '')
}
