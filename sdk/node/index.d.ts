// Types of 'mcp-bash'. The arguments of a handler are inferred from the short form, from a JSON Schema, or
// from a schema of zod, valibot, arktype or any other Standard Schema.

// ---------------------------------------------------------------- schemas

type Base = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null' | 'any'
type Listed = `${Base}${'' | '[]' | '[][]'}`
type Bare = Listed | `${Listed}|${Base}`

/** 'number', 'string?' (optional), 'integer[]', 'string|null', 'number - with a description'. */
export type Word = `${Bare}${'' | '?'}` | `${Bare}${'' | '?'} - ${string}`

export type Choices = readonly (string | number | boolean | null)[]

type SchemaType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null'

/** A JSON Schema of one value, in place of a word. With `optional` or a `default` it is optional. */
export interface JsonSchema {
  readonly type?: SchemaType | readonly SchemaType[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: { readonly [name: string]: JsonSchema | boolean }
  readonly required?: readonly string[]
  readonly items?: JsonSchema | boolean
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly optional?: boolean
  readonly [keyword: string]: unknown
}

/** A JSON Schema of all arguments. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object'
}

/** A schema of zod, valibot, arktype, … (https://standardschema.dev). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type Field = Word | Choices | StandardSchema | JsonSchema | Fields
export interface Fields {
  readonly [name: string]: Field
}

type Simplify<T> = { [K in keyof T]: T[K] } & {}

interface Named {
  string: string
  number: number
  integer: number
  boolean: boolean
  object: Record<string, any>
  array: any[]
  null: null
  any: any
}

type OfWord<W extends string> = W extends `${infer Type} - ${string}`
  ? OfWord<Type>
  : W extends `${infer Type}?`
    ? OfWord<Type>
    : W extends `${infer One}|${infer Other}`
      ? OfWord<One> | OfWord<Other>
      : W extends `${infer Items}[]`
        ? OfWord<Items>[]
        : W extends keyof Named
          ? Named[W]
          : unknown

type OfField<F> = F extends string
  ? OfWord<F>
  : F extends Choices
    ? F[number]
    : F extends StandardSchema<any, infer Output>
      ? Output
      : F extends
            | { readonly type: SchemaType | readonly SchemaType[] }
            | { readonly const: unknown }
            | { readonly enum: readonly unknown[] }
            | { readonly anyOf: readonly unknown[] }
            | { readonly oneOf: readonly unknown[] }
            | { readonly $ref: string }
        ? OfSchema<F>
        : OfFields<F>

type MayBeMissing<F> =
  F extends StandardSchema<infer Input, any>
    ? undefined extends Input
      ? true
      : false
    : F extends
          | `${string}?`
          | `${string}? - ${string}`
          | { readonly optional: true }
          | { readonly default: unknown }
      ? true
      : false

type OptionalNames<F> = {
  [K in keyof F]: K extends `${string}?` ? K : MayBeMissing<F[K]> extends true ? K : never
}[keyof F]
type BareName<K> = K extends `${infer Name}?` ? Name : K

type OfFields<F> = Simplify<
  { [K in keyof F as K extends OptionalNames<F> ? never : K]: OfField<F[K]> } & {
    [K in keyof F as K extends OptionalNames<F> ? BareName<K> : never]?: OfField<F[K]>
  }
>

/** The type of the value that a JSON Schema describes, as far as its literal type shows it. */
export type OfSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: infer Values extends readonly unknown[] }
    ? Values[number]
    : S extends
          | { readonly anyOf: infer Parts extends readonly unknown[] }
          | { readonly oneOf: infer Parts extends readonly unknown[] }
      ? OfSchema<Parts[number]>
      : S extends { readonly type: infer Types extends readonly SchemaType[] }
        ? Named[Types[number]]
        : S extends { readonly type: 'object'; readonly properties: infer Properties }
          ? OfProperties<
              Properties,
              S extends { readonly required: infer Names extends readonly string[] } ? Names[number] : never
            >
          : S extends { readonly type: 'array'; readonly items: infer Items }
            ? OfSchema<Items>[]
            : S extends { readonly type: infer Type extends SchemaType }
              ? Named[Type]
              : any

type OfProperties<P, Required> = Simplify<
  { [K in keyof P as K extends Required ? K : never]: OfSchema<P[K]> } & {
    [K in keyof P as K extends Required ? never : K]?: OfSchema<P[K]>
  }
>

/** The arguments of a handler, from its `input`. */
export type Arguments<Input> =
  Input extends StandardSchema<any, infer Output>
    ? Output
    : Input extends { readonly type: 'object'; readonly properties: object }
      ? OfSchema<Input>
      : OfFields<Input>

export type Input = Fields | ObjectSchema | StandardSchema
export type Output = Word | Choices | Fields | JsonSchema | StandardSchema

type Awaitable<T> = T | PromiseLike<T>

/** The return type of a handler with an `output`. */
export type Returned<O> = unknown extends O ? unknown : OfField<O> | Content | readonly Content[] | Result

// ---------------------------------------------------------------- tools, resources, prompts

export interface Icon {
  src: string
  mimeType?: string
  sizes?: string[]
  theme?: 'light' | 'dark'
}

export type SandboxMode = 'off' | 'on' | 'strict'

/** What a process may do: a word for the default profile, or the keys of `sandbox` in metadata. */
export type Sandbox =
  | SandboxMode
  | {
      mode?: SandboxMode
      /** What it may read: absolute paths, `project`, `roots`, `tmp`, `~`, or a path below `project`, `roots` or `~`. */
      read?: readonly string[]
      /** What it may write, and read. */
      write?: readonly string[]
      /** Hosts with their ports, such as `api.github.com:443` or `*.example.org:443`. */
      network?: 'none' | 'all' | readonly string[]
      /** A number of bytes, or a size such as `512M`. */
      memory?: string | number
      cpuSecs?: number
      processes?: number
      openFiles?: number
      /** A number of bytes, or a size such as `100M`. */
      fileSize?: string | number
    }

interface SharedOptions {
  /** Defaults to the name of the export. */
  name?: string
  title?: string
  description?: string
  icons?: Icon[]
  /** `_meta` of the definition. */
  meta?: Record<string, unknown>
  /** What it may do. Functions with different ones are served by different processes. */
  sandbox?: Sandbox
  /** The secrets that it needs: each variable, and the name of a secret. */
  secrets?: Record<string, string | { name: string; as?: 'value' | 'file' }>
}

export type Capability = 'elicitation' | 'elicitation.url' | 'sampling' | 'roots'

export interface ToolOptions<I, O> extends SharedOptions {
  input?: I
  output?: O
  annotations?: {
    title?: string
    readOnlyHint?: boolean
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint?: boolean
  }
  timeoutSecs?: number
  progressExtendsTimeout?: boolean
  maxTimeoutSecs?: number
  timeoutHint?: string
  /** The capabilities that a client needs to use the tool. */
  requires?: Capability[]
  /** Whether a person has to consent before it runs, or the question: `'Delete {path}?'`. */
  confirm?: boolean | string
  /** The scopes that the token of a caller must have, if an issuer vouches for the caller. */
  scopes?: string[]
  /** Whether a call can be a task, which outlives its request. */
  task?: 'forbidden' | 'optional' | 'required'
}

/** A handler that can be called directly, for example in tests. */
export type Callable<A, R> = (args: A, context?: Context) => R

export type Handler<A, R> = (args: A, context: Context) => R

/** The arguments are read from the types of the handler. */
export function tool<A, R>(handler: Handler<A, R>): Callable<A, R>
export function tool<A, R>(description: string, handler: Handler<A, R>): Callable<A, R>
export function tool<const I extends Input, R>(
  description: string,
  input: I,
  handler: Handler<Arguments<I>, R>,
): Callable<Arguments<I>, R>
export function tool<const I extends Input, R extends Awaitable<Returned<O>>, const O extends Output = any>(
  options: ToolOptions<I, O> & { input: I },
  handler: Handler<Arguments<I>, R>,
): Callable<Arguments<I>, R>
export function tool<A, R extends Awaitable<Returned<O>>, const O extends Output = any>(
  options: ToolOptions<undefined, O>,
  handler: Handler<A, R>,
): Callable<A, R>

export interface ResourceOptions extends SharedOptions {
  mimeType?: string
  annotations?: { audience?: ('user' | 'assistant')[]; priority?: number; lastModified?: string }
  size?: number
}

type NameOf<Expression extends string> =
  Expression extends `${'+' | '#' | '.' | '/' | ';' | '?' | '&'}${infer Rest}`
    ? NameOf<Rest>
    : Expression extends `${infer One},${infer Others}`
      ? NameOf<One> | NameOf<Others>
      : Expression extends `${infer Name}*` | `${infer Name}:${string}`
        ? Name
        : Expression

/** The variables of a URI template. */
export type Variables<Uri extends string> = Uri extends `${string}{${infer Expression}}${infer Rest}`
  ? Simplify<{ [K in NameOf<Expression>]: string } & Variables<Rest>>
  : {}

export function resource<const Uri extends string, R>(
  uri: Uri,
  handler: Handler<Variables<Uri>, R>,
): Callable<Variables<Uri>, R>
export function resource<const Uri extends string, R>(
  uri: Uri,
  options: string | ResourceOptions,
  handler: Handler<Variables<Uri>, R>,
): Callable<Variables<Uri>, R>

export interface PromptOptions<I> extends SharedOptions {
  input?: I
  requires?: Capability[]
}

/** All arguments of prompts are texts. */
type Texts<I> = { [K in keyof Arguments<I>]: string }

export interface PromptMessage {
  role: 'user' | 'assistant'
  content: ContentItem | string
}

export type PromptReturned =
  | string
  | Content
  | Message
  | readonly (string | Content | Message | PromptMessage)[]
  | { description?: string; messages: readonly (string | Message | PromptMessage)[] }

export function prompt<A, R extends Awaitable<PromptReturned>>(handler: Handler<A, R>): Callable<A, R>
export function prompt<A, R extends Awaitable<PromptReturned>>(
  description: string,
  handler: Handler<A, R>,
): Callable<A, R>
export function prompt<const I extends Fields | ObjectSchema, R extends Awaitable<PromptReturned>>(
  description: string,
  input: I,
  handler: Handler<Texts<I>, R>,
): Callable<Texts<I>, R>
export function prompt<const I extends Fields | ObjectSchema, R extends Awaitable<PromptReturned>>(
  options: PromptOptions<I> & { input: I },
  handler: Handler<Texts<I>, R>,
): Callable<Texts<I>, R>
export function prompt<A, R extends Awaitable<PromptReturned>>(
  options: PromptOptions<undefined>,
  handler: Handler<A, R>,
): Callable<A, R>

export interface WorkerOptions {
  /** The maximum number of processes. */
  processes?: number
  /** The number of concurrent calls in one process (1). */
  atOnce?: number
  /** Exits after this long without a call; 0 means never. */
  idleSecs?: number
  /** Replaced after this many calls. */
  maxCalls?: number
  /** Replaced after a call that leaves it above this. */
  memoryMb?: number
  /** Started with the server. */
  startAhead?: boolean
  /** Child processes may stay between calls. */
  keepsProcesses?: boolean
  /** The variables that it needs from the server's environment. */
  env?: string[]
  /** What the processes may do. A function may have a `sandbox` of its own. */
  sandbox?: Sandbox
  /** The secrets that it needs: each variable, and the name of a secret. */
  secrets?: Record<string, string | { name: string; as?: 'value' | 'file' }>
}

/** Options of the workers of this file. */
export function worker(options: WorkerOptions): void

/** Instructions for the model about this server as a whole. */
export function instructions(text: string): void

export interface Kept<T> {
  (): Promise<T>
  /** Closes it early; the next use opens another. */
  end(): Promise<void>
}

/** State that a worker keeps between calls: opened on first use, shared by all calls, closed with the worker. */
export function keep<T>(open: () => Awaitable<T>, close?: (kept: T) => unknown): Kept<T>

// ---------------------------------------------------------------- the running call

export interface Root {
  uri: string
  name?: string
  path?: string
}

export type Level = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

export interface Log extends Record<Level | 'warn', (...parts: unknown[]) => void> {
  (level: Level, ...parts: unknown[]): void
}

export interface AskOptions {
  /** The key of the question in `inputRequests`. */
  name?: string
  timeoutSecs?: number
  /** Withdraws the question. */
  signal?: AbortSignal
}

export interface SampleOptions extends AskOptions {
  system?: string
  maxTokens?: number
  temperature?: number
  stopSequences?: string[]
  modelPreferences?: Record<string, unknown>
  includeContext?: 'none' | 'thisServer' | 'allServers'
  metadata?: Record<string, unknown>
}

export interface Sampled {
  text: string
  role: 'user' | 'assistant'
  model: string
  content: unknown
  stopReason?: string
}

export type SampleMessages =
  string | Content | PromptMessage | Message | readonly (string | Content | PromptMessage | Message)[]

export type Question =
  string | { message: string; fields?: Fields | ObjectSchema } | { method: string; params?: unknown }

type AnswerTo<Q> = Q extends string
  ? { value: string }
  : Q extends { readonly fields: infer F }
    ? Arguments<F>
    : any

interface ProgressFunction {
  (done: number, total?: number, message?: string): void
  (done: number, message: string): void
}

interface ChooseFunction {
  <const C extends readonly string[]>(
    message: string,
    choices: C,
    options: AskOptions & { multiple: true },
  ): Promise<C[number][]>
  <const C extends readonly string[]>(message: string, choices: C, options?: AskOptions): Promise<C[number]>
  <const C extends Readonly<Record<string, string>>>(
    message: string,
    titles: C,
    options: AskOptions & { multiple: true },
  ): Promise<(keyof C & string)[]>
  <const C extends Readonly<Record<string, string>>>(
    message: string,
    titles: C,
    options?: AskOptions,
  ): Promise<keyof C & string>
}

/** The second parameter of a handler. Its members can be destructured. */
export interface Context {
  readonly progress: ProgressFunction
  readonly log: Log
  readonly ask: typeof ask
  readonly askAll: typeof askAll
  readonly askUrl: typeof askUrl
  readonly confirm: typeof confirm
  readonly choose: ChooseFunction
  readonly sample: typeof sample
  readonly roots: () => Root[]
  readonly insideRoots: (path: string) => string
  readonly askRoots: () => Promise<Root[]>
  readonly askInsideRoots: (path: string) => Promise<string>
  readonly meta: () => Record<string, any>
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal
  /** A private folder of this call, removed after it. */
  readonly folder: string | undefined
  readonly caller: string | undefined
  readonly callerGroups: string[]
  /** What the caller's identity provider says about it, as far as the operator passes it on. */
  readonly callerClaims: Record<string, any>
  /** The state of the client's session: JSON values, kept from one call to the next. Throws without a session. */
  readonly state: Record<string, any>
  readonly trace: Trace
  /** The name of the tool, resource or prompt. */
  readonly name: string
}

/** The state of the client's session: JSON values, kept from one call to the next. Throws without a session. */
export function state(): Record<string, any>

export const progress: ProgressFunction
export const log: Log

/** Asks the user for several fields. Throws Declined, Cancelled or CannotAsk. */
export function ask<const F extends Fields | ObjectSchema = {}>(
  message: string,
  fields?: F,
  options?: AskOptions,
): Promise<Arguments<F>>

/** Several questions at once. If one is not answered, the others are in `answers` of the error. */
export function askAll<const Q extends Readonly<Record<string, Question>>>(
  questions: Q,
  options?: AskOptions,
): Promise<{ [K in keyof Q]: AnswerTo<Q[K]> }>

/** Sends the user to a web page, for data that must not pass through the client. */
export function askUrl(message: string, url: string | URL, options?: AskOptions): Promise<void>

/** True only if the user said yes. */
export function confirm(message: string, options?: AskOptions): Promise<boolean>

/** One of several options, or with `multiple` any number of them. */
export const choose: ChooseFunction

/** Asks the client's model. */
export function sample(messages: SampleMessages, options?: SampleOptions): Promise<Sampled>

/** The roots that are known. A client without a session has to be asked for its own: see askRoots(). */
export function roots(): Root[]

/** The path, absolute and with links resolved. Throws a ToolError if it is outside the known roots. */
export function insideRoots(path: string): string

/** The client's roots. Asks a client that has not sent them yet, once per call. */
export function askRoots(): Promise<Root[]>

/** The path, absolute and with links resolved. Rejects with a ToolError if it is outside the client's roots. */
export function askInsideRoots(path: string): Promise<string>

/** The `_meta` of the request. */
export function meta(): Record<string, any>

/** Aborted when the client cancels the call. */
export function signal(): AbortSignal

/** A private folder of this call, removed after it. */
export function folder(): string | undefined

/** The caller, if the server knows it. */
export function caller(): string | undefined

/** The groups of the caller. */
export function callerGroups(): string[]

/** What the caller's identity provider says about it, as far as the operator passes it on. */
export function callerClaims(): Record<string, any>

export interface Trace {
  traceparent?: string
  tracestate?: string
  baggage?: string
}

/** The trace context of the call, as in headers. */
export function trace(): Trace

// ---------------------------------------------------------------- results

export interface ContentItem {
  type: 'text' | 'image' | 'audio' | 'resource' | 'resource_link'
  annotations?: Record<string, unknown>
  _meta?: Record<string, unknown>
}

declare const content: unique symbol

/** One content item of a result, made by the functions below. */
export interface Content extends ContentItem {
  readonly [content]: true
}

declare const whole: unique symbol

export interface Result {
  readonly [whole]: true
}

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: ContentItem
}

export interface Extras {
  annotations?: Record<string, unknown>
  /** `_meta` of the item. */
  meta?: Record<string, unknown>
}

export type Bytes = Uint8Array | ArrayBuffer

export function text(value: unknown, extras?: Extras): Content

/** An image: bytes, a `data:` URL, or the path of a file. */
export function image(data: Bytes | string, mimeType?: string, extras?: Extras): Content

/** Audio: bytes, a `data:` URL, or the path of a file. */
export function audio(data: Bytes | string, mimeType?: string, extras?: Extras): Content

/** embedded(path), or embedded(uri, text, bytes or any value as JSON, type). */
export function embedded(name: string, data?: unknown, mimeType?: string, extras?: Extras): Content

/** A resource that the client can read if it wants to. */
export function link(
  uri: string,
  fields?: { name?: string; title?: string; description?: string; mimeType?: string; size?: number } & Extras,
): Content

/** A whole result, for content and structured content that differ. */
export function result(parts: {
  content?: unknown
  structured?: object
  isError?: boolean
  meta?: Record<string, unknown>
}): Result

export function user(content: unknown): Message
export function assistant(content: unknown): Message

// ---------------------------------------------------------------- errors

/** A failure with this message for the model. */
export class ToolError extends Error {
  constructor(message: string, details?: { type?: string; hint?: string; [detail: string]: unknown })
  readonly type: string
  readonly hint: string | undefined
  readonly data: Record<string, unknown>
}

/** A JSON-RPC error, for invalid requests. */
export class ProtocolError extends Error {
  constructor(code: number, message: string, data?: unknown)
  readonly code: number
  readonly data: unknown
}

/** The resource does not exist. */
export class NotFound extends ProtocolError {
  constructor(message?: string, data?: unknown)
}

/** The user declined. */
export class Declined extends Error {
  readonly type: 'declined'
}

/** The user closed the question, or the client cancelled the call. */
export class Cancelled extends Error {
  readonly type: 'cancelled'
}

/** The client cannot ask, or no answer came in time. */
export class CannotAsk extends Error {
  readonly type: 'cannot_ask'
}

// ---------------------------------------------------------------- plain scripts

/** The arguments of a plain script. */
export const args: any

/** Prints the result of a plain script. */
export function answer(value: unknown): void

/** Runs a plain script like a handler. */
export function main<A = any>(handler: Handler<A, unknown>): Promise<void>
