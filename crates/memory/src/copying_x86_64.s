# void *mcp_bash_copy(void *to /* rdi */, const void *from /* rsi */, size_t size /* rdx */)
#
# The ranges may overlap: up to 128 bytes, everything is read before anything is written; beyond, the direction is chosen.
# From 2 kB on, the string instruction is faster than a loop.

	.section .text.mcp_bash_copy, "ax", @progbits
	.globl mcp_bash_copy
	.type mcp_bash_copy, @function
	.p2align 6
mcp_bash_copy:
	mov rax, rdi
	cmp rdx, 16
	jb 10f
	cmp rdx, 32
	ja 20f

	# 16 to 32: two pieces that may overlap.
	movups xmm0, [rsi]
	movups xmm1, [rsi + rdx - 16]
	movups [rdi], xmm0
	movups [rdi + rdx - 16], xmm1
	ret

10:	# Less than 16.
	cmp edx, 8
	jb 11f
	mov rcx, [rsi]
	mov r8, [rsi + rdx - 8]
	mov [rdi], rcx
	mov [rdi + rdx - 8], r8
	ret
11:	cmp edx, 4
	jb 12f
	mov ecx, [rsi]
	mov r8d, [rsi + rdx - 4]
	mov [rdi], ecx
	mov [rdi + rdx - 4], r8d
	ret
12:	cmp edx, 1
	jb 14f
	je 13f
	movzx ecx, word ptr [rsi]
	movzx r8d, byte ptr [rsi + rdx - 1]
	mov [rdi], cx
	mov [rdi + rdx - 1], r8b
	ret
13:	movzx ecx, byte ptr [rsi]
	mov [rdi], cl
14:	ret

20:	cmp rdx, 64
	ja 30f
	movups xmm0, [rsi]
	movups xmm1, [rsi + 16]
	movups xmm2, [rsi + rdx - 32]
	movups xmm3, [rsi + rdx - 16]
	movups [rdi], xmm0
	movups [rdi + 16], xmm1
	movups [rdi + rdx - 32], xmm2
	movups [rdi + rdx - 16], xmm3
	ret

30:	cmp rdx, 128
	ja 40f
	movups xmm0, [rsi]
	movups xmm1, [rsi + 16]
	movups xmm2, [rsi + 32]
	movups xmm3, [rsi + 48]
	movups xmm4, [rsi + rdx - 64]
	movups xmm5, [rsi + rdx - 48]
	movups xmm6, [rsi + rdx - 32]
	movups xmm7, [rsi + rdx - 16]
	movups [rdi], xmm0
	movups [rdi + 16], xmm1
	movups [rdi + 32], xmm2
	movups [rdi + 48], xmm3
	movups [rdi + rdx - 64], xmm4
	movups [rdi + rdx - 48], xmm5
	movups [rdi + rdx - 32], xmm6
	movups [rdi + rdx - 16], xmm7
	ret

40:	# More than 128. If the target begins inside the source, copy from the end.
	mov rcx, rdi
	sub rcx, rsi
	cmp rcx, rdx
	jb 60f
	cmp rdx, 2048
	jae 50f

	# Forward, 64 bytes at a time; the last 64 are read first, since they may be overwritten meanwhile.
45:	movups xmm4, [rsi + rdx - 64]
	movups xmm5, [rsi + rdx - 48]
	movups xmm6, [rsi + rdx - 32]
	movups xmm7, [rsi + rdx - 16]
	lea r8, [rdi + rdx - 64]
46:	movups xmm0, [rsi]
	movups xmm1, [rsi + 16]
	movups xmm2, [rsi + 32]
	movups xmm3, [rsi + 48]
	movups [rdi], xmm0
	movups [rdi + 16], xmm1
	movups [rdi + 32], xmm2
	movups [rdi + 48], xmm3
	add rsi, 64
	add rdi, 64
	cmp rdi, r8
	jb 46b
	movups [r8], xmm4
	movups [r8 + 16], xmm5
	movups [r8 + 32], xmm6
	movups [r8 + 48], xmm7
	ret

50:	# The string instruction is slow when the source begins shortly behind the target.
	neg rcx
	cmp rcx, 64
	jb 45b
	mov rcx, rdx
	rep movsb
	ret

60:	# Backward, 64 bytes at a time; the first 64 are read first. Nothing moves if both begin at the same place.
	test rcx, rcx
	jz 62f
	movups xmm4, [rsi]
	movups xmm5, [rsi + 16]
	movups xmm6, [rsi + 32]
	movups xmm7, [rsi + 48]
	lea r8, [rsi + rdx]
	lea r9, [rdi + rdx]
	lea r10, [rdi + 64]
61:	movups xmm0, [r8 - 16]
	movups xmm1, [r8 - 32]
	movups xmm2, [r8 - 48]
	movups xmm3, [r8 - 64]
	movups [r9 - 16], xmm0
	movups [r9 - 32], xmm1
	movups [r9 - 48], xmm2
	movups [r9 - 64], xmm3
	sub r8, 64
	sub r9, 64
	cmp r9, r10
	ja 61b
	movups [rdi], xmm4
	movups [rdi + 16], xmm5
	movups [rdi + 32], xmm6
	movups [rdi + 48], xmm7
62:	ret
	.size mcp_bash_copy, . - mcp_bash_copy

# int mcp_bash_compare(const void *left /* rdi */, const void *right /* rsi */, size_t size /* rdx */)

	.section .text.mcp_bash_compare, "ax", @progbits
	.globl mcp_bash_compare
	.type mcp_bash_compare, @function
	.p2align 6
mcp_bash_compare:
	cmp rdx, 16
	jb 10f

	# 16 bytes at a time, the last 16 at the end.
	lea r8, [rdi + rdx - 16]
	lea r9, [rsi + rdx - 16]
1:	movups xmm0, [rdi]
	movups xmm1, [rsi]
	pcmpeqb xmm0, xmm1
	pmovmskb eax, xmm0
	sub eax, 0xffff
	jnz 3f
	add rdi, 16
	add rsi, 16
	cmp rdi, r8
	jb 1b
	mov rdi, r8
	mov rsi, r9
	movups xmm0, [rdi]
	movups xmm1, [rsi]
	pcmpeqb xmm0, xmm1
	pmovmskb eax, xmm0
	sub eax, 0xffff
	jnz 3f
	ret
3:	# The lowest bit that is not set in the mask is the first difference; after the subtraction it is the lowest one that is.
	bsf ecx, eax
	movzx eax, byte ptr [rdi + rcx]
	movzx edx, byte ptr [rsi + rcx]
	sub eax, edx
	ret

10:	cmp edx, 8
	jb 12f
	mov rax, [rdi]
	mov rcx, [rsi]
	cmp rax, rcx
	jne 11f
	mov rax, [rdi + rdx - 8]
	mov rcx, [rsi + rdx - 8]
	cmp rax, rcx
	jne 11f
	xor eax, eax
	ret
11:	bswap rax
	bswap rcx
	cmp rax, rcx
	sbb eax, eax
	or eax, 1
	ret

12:	cmp edx, 4
	jb 14f
	mov eax, [rdi]
	mov ecx, [rsi]
	cmp eax, ecx
	jne 13f
	mov eax, [rdi + rdx - 4]
	mov ecx, [rsi + rdx - 4]
	cmp eax, ecx
	jne 13f
	xor eax, eax
	ret
13:	bswap eax
	bswap ecx
	cmp eax, ecx
	sbb eax, eax
	or eax, 1
	ret

14:	test edx, edx
	jz 16f
15:	movzx eax, byte ptr [rdi]
	movzx ecx, byte ptr [rsi]
	sub eax, ecx
	jnz 17f
	inc rdi
	inc rsi
	dec edx
	jnz 15b
16:	xor eax, eax
17:	ret
	.size mcp_bash_compare, . - mcp_bash_compare
