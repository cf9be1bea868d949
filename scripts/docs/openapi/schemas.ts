// Turns the exported types of the HTTP API into JSON Schemas, with their comments as descriptions.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  API,
  type Checker,
  type Project,
  SymbolFlags,
  type Type,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/sync'
import { root } from '../../check/sources.ts'

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

const ENTRY = join(root, 'packages/sdk/src/api/index.ts')
const PLACE = '#/components/schemas/'

/** The schemas of the types of `@sonde/sdk/api`, each once, by its name. */
export class ApiSchemas {
  readonly #api: API
  readonly #checker: Checker
  readonly #exported: ReadonlyMap<string, TypeSymbol>
  readonly #made = new Map<string, { readonly id: number; schema: JsonSchema }>()

  constructor() {
    this.#api = new API({ cwd: root })
    const project = openProject(this.#api)
    this.#checker = project.checker
    const file = project.program.getSourceFile(ENTRY)
    const module = file && this.#checker.getSymbolAtLocation(file)
    if (module === undefined) throw new Error(`${ENTRY} exports nothing`)
    const exported = this.#checker.getExportsOfModule(module).map((symbol) => this.#original(symbol))
    this.#exported = new Map(exported.map((symbol) => [symbol.name, symbol]))
  }

  close(): void {
    this.#api.close()
  }

  /** All schemas that were referred to, by name. */
  components(): Record<string, JsonSchema> {
    const sorted = [...this.#made].sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]))
  }

  /** The schema of an exported type, as a reference. */
  ofName(name: string): JsonSchema {
    const symbol = this.#exported.get(name)
    if (symbol === undefined) throw new Error(`@sonde/sdk/api exports no type ${name}`)
    return this.#named(symbol, this.#checker.getDeclaredTypeOfSymbol(symbol))
  }

  /** The types of the members of an exported interface, by name. */
  membersOf(name: string): ReadonlyMap<string, JsonSchema> {
    const symbol = this.#exported.get(name)
    if (symbol === undefined) throw new Error(`@sonde/sdk/api exports no type ${name}`)
    const members = this.#checker.getPropertiesOfType(this.#checker.getDeclaredTypeOfSymbol(symbol))
    return new Map(members.map((member) => [member.name, this.#of(this.#typeOf(member))]))
  }

  /** The schema of a type: a reference if the SDK declares the type by a name. */
  #of(type: Type): JsonSchema {
    const symbol = type.getAliasSymbol() ?? (type.isClassOrInterface() ? type.getSymbol() : undefined)
    const isOurs = symbol?.declarations.some(({ path }) => path.includes('/packages/sdk/src/')) === true
    return isOurs && type.getAliasTypeArguments().length === 0 ? this.#named(symbol, type) : this.#inline(type)
  }

  #named(symbol: TypeSymbol, type: Type): JsonSchema {
    const { id, name } = symbol
    const made = this.#made.get(name)
    if (made !== undefined && made.id !== id) throw new Error(`two types of the API have the name ${name}`)
    if (made === undefined) {
      // A type may contain itself.
      const entry = { id, schema: {} }
      this.#made.set(name, entry)
      entry.schema = { ...this.#description(symbol), ...this.#inline(type) }
    }
    return { $ref: `${PLACE}${name}` }
  }

  #inline(type: Type): JsonSchema {
    if (type.isLiteralType()) return { const: type.value }
    if (type.isIntrinsicType()) return intrinsic(type.intrinsicName)
    if (type.isUnionType()) return this.#union(type.getTypes())
    if (this.#checker.isArrayType(type) && type.isTypeReference())
      return { type: 'array', items: this.#of(only(this.#checker.getTypeArguments(type))) }
    if (type.isObjectType() || type.isIntersectionType()) return this.#object(type)
    throw new Error(`no schema is known for ${this.#checker.typeToString(type)}`)
  }

  #object(type: Type): JsonSchema {
    // JSON has no undefined: such members are left out.
    const members = this.#checker.getPropertiesOfType(type).filter((member) => !isUndefined(this.#typeOf(member)))
    const [index] = this.#checker.getIndexInfosOfType(type)
    const required = members.filter((member) => !this.#mayLack(member)).map(({ name }) => name)
    const properties = members.map((member) => [member.name, this.#member(member)] as const)
    return {
      type: 'object',
      ...(members.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(required.length > 0 && { required }),
      ...(index !== undefined && { additionalProperties: this.#of(index.valueType) }),
    }
  }

  #mayLack(member: TypeSymbol): boolean {
    const type = this.#typeOf(member)
    return (member.flags & SymbolFlags.Optional) !== 0 || (type.isUnionType() && type.getTypes().some(isUndefined))
  }

  #member(member: TypeSymbol): JsonSchema {
    return { ...this.#description(member), ...this.#of(this.#typeOf(member)) }
  }

  #union(types: readonly Type[]): JsonSchema {
    const known = types.filter((type) => !isUndefined(type))
    const literals = known.flatMap((type) => (type.isLiteralType() ? [type.value] : []))
    const isBoolean = literals.includes(true) && literals.includes(false)
    const values = literals.filter((value) => !isBoolean || typeof value !== 'boolean')
    const parts: JsonSchema[] = [
      ...(values.length > 0 ? [{ type: typeof values[0], enum: values }] : []),
      ...(isBoolean ? [{ type: 'boolean' }] : []),
      ...known.filter((type) => !type.isLiteralType()).map((type) => this.#of(type)),
    ]
    if (parts.length === 1) return only(parts)
    const isPlain = parts.every((part) => Object.keys(part).join() === 'type')
    return isPlain ? { type: parts.map(({ type }) => type) } : { anyOf: parts }
  }

  #typeOf(symbol: TypeSymbol): Type {
    const type = this.#checker.getTypeOfSymbol(symbol)
    if (type === undefined) throw new Error(`${symbol.name} has no type`)
    return type
  }

  #original(symbol: TypeSymbol): TypeSymbol {
    return symbol.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  #description(symbol: TypeSymbol): JsonSchema {
    const description = symbol
      .getDocumentationComment(this.#checker)
      .replaceAll(/\s*\n\s*(?!\s*[-*\n])/g, ' ')
      .trim()
    return description === '' ? {} : { description }
  }
}

/** A project of these types alone: that of the whole repository takes seconds. */
function openProject(api: API): Project {
  const config = join(root, '.cache/tsconfig.api.json')
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(config, JSON.stringify({ extends: join(root, 'tsconfig.base.json'), files: [ENTRY] }))
  const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
  if (project === undefined) throw new Error(`${config} opens no project`)
  return project
}

function isUndefined(type: Type): boolean {
  return type.isIntrinsicType() && type.intrinsicName === 'undefined'
}

function intrinsic(name: string): JsonSchema {
  if (name === 'unknown') return {}
  if (name === 'string' || name === 'number' || name === 'boolean' || name === 'null') return { type: name }
  throw new Error(`JSON has no ${name}`)
}

function only<T>(list: readonly T[]): T {
  const [first] = list
  if (first === undefined || list.length > 1) throw new Error(`${list.length} elements where one was expected`)
  return first
}
